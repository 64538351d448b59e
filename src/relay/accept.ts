import { eventFault } from '../service/eventFault.js';
import { inTime } from '../service/inTime.js';
import { written } from '../service/written.js';
import { IDENTIFY, isObject, kindOf, type Rejections, type WireEvent } from '../wire.js';
import type { ConnectionInfo } from './address.js';
import { type RelayedEvent, relayed } from './job.js';
import { Refusal, type RelayRequest } from './request.js';
import type { Sender } from './sender.js';

/** An event as `accept` gets it: valid, and signed if it is an `$identify` that needs a signature. */
export type AcceptableEvent = Readonly<Omit<WireEvent, 'uuid' | 'seq' | 'signature'>> & {
  readonly uuid?: string | undefined;
};

/** The request that an event came with. */
export interface AcceptContext extends ConnectionInfo {
  /** The request, whose body has been read. */
  readonly request: RelayRequest;
}

/**
 * Decides about a valid event before it is forwarded. `true` forwards it. An event with the same `uuid` is forwarded in its place. A
 * text drops it for that reason, which the page gets. `false` drops it as `not accepted`. If the function throws, rejects or returns
 * anything else, the relay answers 500, and the page keeps its events.
 */
export type Accept = (
  event: AcceptableEvent,
  context: AcceptContext,
) => boolean | string | AcceptableEvent | Promise<boolean | string | AcceptableEvent>;

interface Sifted {
  readonly events: readonly RelayedEvent[];
  /** The others, each with its reason in `rejected`. */
  readonly dropped: readonly RelayedEvent[];
  readonly rejected: Rejections['rejected'];
}

/** The reason of an event whose name is not allowed. */
export const NOT_ALLOWED = 'event: expected one of the relay option allowedEvents';
/** The reason of an event that a bot has sent. */
const BOT = 'bot';

/** The event that `accept` wants to be forwarded, or its reason to drop it. */
const askAccept = async (
  accept: Accept,
  { came, forwarded }: RelayedEvent,
  context: AcceptContext,
): Promise<RelayedEvent | string> => {
  const given = forwarded as AcceptableEvent;
  const verdict = await accept(given, context);
  if (typeof verdict === 'string' && verdict) return verdict;
  if (verdict === false) return 'not accepted';
  // Written and read, so that no later step can fail on what `accept` returns, or has changed in place.
  const { data } = written(verdict === true ? given : verdict, 'accept');
  // A function without its `return` would otherwise drop all events.
  if (!isObject(data)) throw new TypeError(`accept: expected a boolean, an event or a reason, got ${kindOf(verdict)}`);
  // The id identifies duplicates, so it stays.
  const changed = { ...data, uuid: came.uuid } as WireEvent;
  const fault = eventFault(changed);
  // Without the value, which is not for the log.
  if (fault) throw new TypeError(`accept: ${fault.replace(/, got .*/s, '')}`);
  return { ...relayed(changed), came };
};

/**
 * Creates a function that applies `bots`, `allowedEvents`, `enrich` and `accept` to events, in this order.
 *
 * @param timeout how long all of them together may take, in ms
 * @param onError receives what `accept` throws
 */
export const createSieve = (
  accept: Accept | undefined,
  allowedEvents: readonly string[] | undefined,
  timeout: number,
  onError: (error: unknown) => void,
) => {
  // clew sends `$identify` by itself, and has the signature for it.
  const names = allowedEvents && new Set([...allowedEvents, IDENTIFY]);
  const verdictOn = (event: RelayedEvent, context: AcceptContext, { isRefused, enrich }: Sender) => {
    if (isRefused) return BOT;
    if (names && !names.has(event.came.event)) return NOT_ALLOWED;
    return accept ? askAccept(accept, enrich(event), context) : enrich(event);
  };
  const sift = async (
    events: readonly RelayedEvent[],
    context: AcceptContext,
    sender: Sender,
    isOver: () => boolean,
  ): Promise<Sifted> => {
    const good: RelayedEvent[] = [];
    const dropped: RelayedEvent[] = [];
    const rejected: Rejections['rejected'] = [];
    for (const event of events) {
      // The request has been answered. The page sends the other events again.
      if (isOver()) break;
      const verdict = await verdictOn(event, context, sender);
      if (typeof verdict !== 'string') good.push(verdict);
      else {
        dropped.push(event);
        rejected.push({ uuid: event.came.uuid ?? '', reason: verdict });
      }
    }
    return { events: good, dropped, rejected };
  };
  return async (events: readonly RelayedEvent[], context: AcceptContext, sender: Sender): Promise<Sifted> => {
    // An `await` for each event would cost a microtask.
    if (!accept && !names && !sender.isRefused) return { events: events.map(sender.enrich), dropped: [], rejected: [] };
    let isOver = false;
    try {
      return await inTime(
        sift(events, context, sender, () => isOver),
        timeout,
        'accept',
      );
    } catch (error) {
      isOver = true;
      onError(error);
      // As from the service, so that the tracker bisects if one event is the cause.
      throw new Refusal(500, 'the relay option accept has failed', 1, 500);
    }
  };
};
