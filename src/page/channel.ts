import type { Report } from '../courier/ports.js';
import { type SizeMessage, UPSERT } from '../outbox/queue.js';
import { isVisitorId, type Visitor } from '../visitor/record.js';
import { isObject } from '../wire.js';

/**
 * A message between the tabs of an origin: the events in flight and confirmed, the visitor, or the visitor's answer. It may also be a
 * change of the number of stored events, or the notice of an upsert.
 */
export type Message = Report | Visitor | boolean | SizeMessage;

/** A line to the other tabs of this origin. Closed while the page is away, so as not to cost it the back/forward cache. */
export interface Channel {
  post(message: Message): void;
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

/** Ignores messages of unknown form. Without BroadcastChannel, or where it is refused, nothing is posted and nothing arrives. */
export const createChannel = (name: string, receive: (message: Message) => void): Channel => {
  let channel: BroadcastChannel | undefined;
  const reopen = () => {
    try {
      channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }) => isMessage(data) && receive(data);
    } catch {}
  };
  reopen();
  return {
    post: (message) => channel?.postMessage(message),
    close: () => {
      channel?.close();
      channel = undefined;
    },
    reopen,
    isOpen: () => !!channel,
  };
};
