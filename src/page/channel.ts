import type { Report } from '../courier/ports.js';
import { type SizeMessage, UPSERT } from '../outbox/queue.js';
import { isVisitorId, type ReportedVisitor } from '../visitor/record.js';
import { isObject } from '../wire.js';

/** More about the visitor's answer. This message precedes the answer, because other versions of clew know that as a boolean only. */
export interface Answered {
  /** When the visitor answered, in ms since 1970. */
  readonly at: number;
  /** The epoch that a refusal ends, if the tab knows it. */
  readonly ended?: string | undefined;
}

/**
 * A message between the tabs of an origin: the events in flight and confirmed, the visitor, or the visitor's answer. A message may
 * also be a change of the number of stored events, or the notice of an upsert.
 */
export type Message = Report | ReportedVisitor | boolean | SizeMessage;

/** A line to the other tabs of this origin. Closed while the page is away, so as not to cost it the back/forward cache. */
export interface Channel {
  post(message: Message): void;
  answer(isGranted: boolean, more: Answered): void;
  close(): void;
  reopen(): void;
  /** Whether messages of the other tabs arrive. */
  isOpen(): boolean;
}

/** A tab may run another version of clew, whose messages have any form. */
const isMessage = (data: unknown): data is Message =>
  typeof data === 'boolean' ||
  Number.isFinite(data) ||
  data === UPSERT ||
  (Array.isArray(data)
    ? data.length > 2 && data.every(Array.isArray)
    : isObject(data) && isVisitorId(data.thread) && isObject(data.keys));

/** The last ms that a `Date` can have, since 1970. */
const LAST = 8.64e15;

const isAnswered = (data: unknown): data is Answered =>
  isObject(data) &&
  (data.at as number) > 0 &&
  (data.at as number) <= LAST &&
  /string|undefined/.test(typeof data.ended);

/**
 * Ignores messages of unknown form. Without BroadcastChannel, or where it is refused, nothing is posted and nothing arrives.
 *
 * @param receive also gets more about an answer, if the other tab has passed that
 */
export const createChannel = (name: string, receive: (message: Message, more?: Answered) => void): Channel => {
  let channel: BroadcastChannel | undefined;
  const post = (message: Message | Answered) => channel?.postMessage(message);
  const reopen = () => {
    let more: Answered | undefined;
    try {
      channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }) => {
        if (isMessage(data)) receive(data, more);
        more = isAnswered(data) ? data : typeof data === 'boolean' ? undefined : more;
      };
    } catch {}
  };
  const close = () => {
    channel?.close();
    channel = undefined;
  };
  reopen();
  return {
    post,
    answer(isGranted, more) {
      const isClosed = !channel;
      // The visitor may answer as the page leaves, or after `stop()`.
      if (isClosed) reopen();
      post(more);
      post(isGranted);
      if (isClosed) close();
    },
    close,
    reopen,
    isOpen: () => !!channel,
  };
};
