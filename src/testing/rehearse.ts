import { v4 as uuid } from 'uuid';
import type { TrackerOptions } from '../api/options.js';
import type { AnyEvents, EventMap, Tracker } from '../api/types.js';
import { linkNameOf } from '../courier/lease.js';
import type { Answer, Transport } from '../courier/transport.js';
import { eraseTab } from '../outbox/local.js';
import type { RelayOptions } from '../relay/options.js';
import { createRelay, type Relay } from '../relay.js';
import { IDENTIFY, isObject, parseJson, UPSERT_PATH, type Upsert } from '../wire.js';
import { FAULTS, type Network, type RehearsedFault, type World } from './faults.js';
import { createLedger, type JourneyStart, type RehearsedJourney } from './ledger.js';
import { createMemoryStore } from './memoryStore.js';
import { openPage, type Page } from './page.js';
import { createRejected } from './rejected.js';
import { ORIGIN, sendToRelay } from './relayTransport.js';

/** Options of `rehearse`. */
export interface RehearsalOptions {
  /**
   * The faults to play, each with a new visitor.
   *
   * @default all but `service answer lost`
   */
  faults?: readonly RehearsedFault[] | undefined;
  /**
   * How often the journey has to start.
   *
   * @default 1
   */
  times?: number | undefined;
  /** Options of your tracker, such as `beforeSend` or `plugins`. The rehearsal has a store, a transport and an address of its own. */
  tracker?: Partial<TrackerOptions> | undefined;
  /**
   * Options of your relay, such as `allowedEvents` or `accept`. Without them, the relay accepts identities without a signature. The
   * rehearsal has a service of its own, so `forward` is refused. Requests come from the first of `allowedOrigins`.
   */
  relay?: Partial<Omit<RelayOptions, 'forward'>> | undefined;
}

/** The result of one fault. */
export interface RehearsedRun {
  /** The fault. */
  readonly fault: RehearsedFault;
  /** Each start of the journey. */
  readonly starts: readonly JourneyStart[];
  /** Events that clew has dropped, and properties of customers that the relay has rejected, with the reason. */
  readonly dropped: readonly string[];
  /** The texts of the signal `error` in calls of `identify` and `setProperties`. clew ignores such a call, or a part of it. */
  readonly errors: readonly string[];
  /** Events that clew has not delivered. */
  readonly queued: number;
}

/** The result of a rehearsal. */
export interface Rehearsal {
  /**
   * One sentence for each unexpected fault: another number of starts, events that are not delivered, a rejected `$identify` or
   * properties, or an error.
   */
  readonly unexpected: readonly string[];
  /** How often the journey has started, by fault. */
  readonly starts: Readonly<Partial<Record<RehearsedFault, number>>>;
  /** Everything that was observed, one run for each fault. */
  readonly runs: readonly RehearsedRun[];
}

/** Most attempts to send. */
const MOST_ATTEMPTS = 20;

const allButLost = (Object.keys(FAULTS) as RehearsedFault[]).filter((fault) => fault !== 'service answer lost');

type Calls = (tracker: Tracker) => unknown;

/** The tracker with a listener for what it does not take of a customer. At other times, plugins miss the document of a page. */
const withListener = (tracker: Tracker, listener: (error: Error) => unknown): Tracker => {
  const listen =
    <Args extends unknown[]>(call: (...args: Args) => void) =>
    (...args: Args): void => {
      const off = tracker.on('error', listener);
      call(...args);
      off();
    };
  return { ...tracker, identify: listen(tracker.identify), setProperties: listen(tracker.setProperties) };
};

const createWorld = (
  calls: Calls,
  relay: Relay,
  origin: string,
  options: TrackerOptions,
  fail: World['failService'],
) => {
  const store = createMemoryStore();
  // Each visitor comes in a new tab.
  eraseTab();
  const { baseUrl: service } = options;
  const pages: Page[] = [];
  const dropped: string[] = [];
  const errors: string[] = [];
  const { note, customers } = createRejected();
  const inFlight = new Set<Promise<unknown>>();
  let network: Network = (deliver) => deliver();
  const transport: Transport = (request) => {
    const deliver = (): Promise<Answer> => {
      const answer = sendToRelay(relay, request, origin);
      inFlight.add(answer);
      const end = () => inFlight.delete(answer);
      answer.then(end, end);
      // The tracker reports rejected properties by the text of an `error` only.
      if (!request.url.includes(UPSERT_PATH)) return answer;
      return answer.then((given) => {
        note(given, Object(parseJson<Upsert>(`${request.body}`)));
        return given;
      });
    };
    const answer = network(deliver);
    if (!request.leaving) return answer;
    answer.catch(() => {});
    // As of `sendBeacon`: the page learns nothing.
    return Promise.resolve({ outcome: 'delivered' });
  };
  /** Ends a lease and a back-off, as time does. */
  const passTime = () =>
    store.transact([], linkNameOf(service), (link?: object) => link && { ...link, until: 0, asked: 0 });
  const countQueued = async () => (await store.read(service)).reduce((all, [, items = []]) => all + items.length, 0);
  const world: World = {
    open() {
      const page = openPage(store, transport, options);
      page.tracker.on('dropped', ({ events, reason }) =>
        dropped.push(...events.map(({ event }) => `${event} (${reason})`)),
      );
      pages.push(page);
      return page;
    },
    async call({ tracker }) {
      await calls(withListener(tracker, ({ message }) => errors.push(message)));
    },
    setNetwork(next) {
      network = next;
    },
    failService: fail,
    async settle({ tracker }) {
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        await passTime();
        await tracker.flush();
        if (!(await countQueued()) && !tracker.stats().queued) return;
      }
    },
    async arrived() {
      await Promise.allSettled(inFlight);
    },
  };
  const close = () => {
    for (const { crash } of pages) crash();
  };
  const rejected = () => customers().map((key) => `properties of ${key ?? 'a customer'} (rejected)`);
  return { world, dropped, errors, rejected, countQueued, close };
};

/** A rejected `$identify`, as `dropped` has it. */
const REJECTED_IDENTIFY = `${IDENTIFY} (rejected)`;

/** A run, and whether each call has worked: the relay has taken each `$identify` and all properties. */
interface Played {
  readonly run: RehearsedRun;
  readonly isSound: boolean;
}

const rehearseFault = async (
  fault: RehearsedFault,
  journey: RehearsedJourney,
  calls: Calls,
  { tracker, relay }: RehearsalOptions,
): Promise<Played> => {
  const ledger = createLedger(journey);
  const isSigned = !!(relay?.identitySecret || relay?.identityKeys);
  const running = createRelay({
    baseUrl: 'https://service.invalid',
    apiKey: 'rehearsal',
    allowUnsignedIdentify: !isSigned,
    allowUnsignedUpsert: !isSigned,
    ...relay,
    fetch: ledger.fetch,
  });
  const baseUrl = `/${uuid()}`;
  const options = { compress: false, ...tracker, baseUrl, storageName: baseUrl };
  const origin = relay?.allowedOrigins?.[0] ?? ORIGIN;
  const { world, dropped, errors, rejected, countQueued, close } = createWorld(
    calls,
    running,
    origin,
    options,
    ledger.fail,
  );
  try {
    await FAULTS[fault](world);
    const all = [...dropped, ...rejected()];
    const run = { fault, starts: ledger.starts, dropped: all, errors, queued: await countQueued() };
    return { run, isSound: !rejected()[0] && !errors[0] && !dropped.includes(REJECTED_IDENTIFY) };
  } finally {
    close();
    await running.close();
  }
};

/** Refuses what would count nothing, and then seem to be right. */
const check = (
  journey: RehearsedJourney,
  calls: unknown,
  faults: readonly string[],
  times: number,
  relay: Partial<RelayOptions> = {},
): void => {
  const wrong = (expected: string) => new TypeError(`rehearse: expected ${expected}`);
  if (!isObject(journey) || typeof journey.event !== 'string' || !journey.event)
    throw wrong('a journey as { event, filter }');
  if (journey.filter !== undefined && journey.filter !== null && !isObject(journey.filter))
    throw wrong('the filter of the journey as an object');
  if (typeof calls !== 'function') throw wrong('a function that makes the calls');
  if (!Number.isInteger(times) || times < 0) throw wrong('`times` as a whole number');
  if (!Array.isArray(faults) || !faults[0] || !faults.every((fault) => Object.hasOwn(FAULTS, fault)))
    throw wrong(`\`faults\` as a list of ${Object.keys(FAULTS).join(', ')}`);
  if (relay.forward !== undefined) throw wrong('no relay option `forward`: the rehearsal has a service of its own');
};

const sentenceOf = ({ fault, starts, dropped, errors, queued }: RehearsedRun, times: number): string => {
  const isRight = starts.length === times;
  const started = `${fault}: started ${starts.length} times${isRight ? '' : ` in place of ${times}`}`;
  const lost = dropped[0] === undefined ? '' : `, dropped: ${dropped.join(', ')}`;
  const failed = errors[0] === undefined ? '' : `, errors: ${errors.join(', ')}`;
  return `${started}${lost}${failed}${queued ? `, ${queued} not delivered` : ''}`;
};

/**
 * Counts how often a journey starts: makes the calls on the real tracker, which sends through the real relay to a service in memory.
 * The function repeats this for each of several faults, with a new visitor each time. docs/rehearsal.md lists what a rehearsal does
 * not simulate.
 *
 * @param calls makes the calls of the app, as in a page. `calls` runs once for each fault, and must not wait for requests
 * @throws (rejects) if the calls throw, or for an invalid journey or option
 * @example
 * const { unexpected } = await rehearse({ event: 'signup', filter: { plan: 'pro' } }, (tracker) => {
 *   tracker.identify('customer-4711');
 *   tracker.track('signup', { plan: 'pro' });
 * });
 * expect(unexpected).toEqual([]);
 */
export const rehearse = async <Events extends EventMap = AnyEvents>(
  journey: RehearsedJourney,
  calls: (tracker: Tracker<Events>) => unknown,
  options: RehearsalOptions = {},
): Promise<Rehearsal> => {
  const { faults = allButLost, times = 1 } = options;
  check(journey, calls, faults, times, options.relay);
  const played: Played[] = [];
  // One after the other: a page that leaves changes `navigator` for a moment.
  for (const fault of faults) played.push(await rehearseFault(fault, journey, calls as Calls, options));
  const runs = played.map(({ run }) => run);
  // A journey that starts for an anonymous visitor reaches no customer. An event that is not delivered may start it later.
  const isUnexpected = ({ run, isSound }: Played) => run.starts.length !== times || !isSound || run.queued > 0;
  return {
    unexpected: played.filter(isUnexpected).map(({ run }) => sentenceOf(run, times)),
    starts: Object.fromEntries(runs.map(({ fault, starts }) => [fault, starts.length])),
    runs,
  };
};
