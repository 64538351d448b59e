import type { PageContext } from '../page/context.js';
import type { DropReason, Listen } from './signals.js';

/** Event names and their payloads: `{ signup: { plan: 'free' | 'pro' }; 'cart viewed': undefined }`. */
export type EventMap = object;

/** Any name, any payload: what a tracker takes when no events are declared. */
export type AnyEvents = Record<string, unknown>;

/** No payload where it may be undefined, else exactly the declared one. */
type PayloadArgument<P> = undefined extends P ? [payload?: P] : [payload: P];
/** The names of the declared events. */
export type EventName<Events extends EventMap> = keyof Events & string;

/** Counts of this page's events since the tracker was made: always `tracked = delivered + queued` + all of `dropped`. */
export interface Stats {
  tracked: number;
  /** Confirmed by the service; without a relay also what was handed to the browser over a proven link as the page went away. */
  delivered: number;
  /** Held in memory and, where it is allowed, in IndexedDB. */
  queued: number;
  /** By reason; a reason that has not occurred is left out. */
  dropped: Partial<Record<DropReason, number>>;
}

/** A tracker of one visitor for one service. No method ever throws into the page. */
export interface Tracker<Events extends EventMap = AnyEvents> {
  /**
   * Tracks an event. The payload is copied in the call: it may be changed afterwards.
   *
   * A bad name or a payload that JSON cannot express is told to `error` and `dropped` listeners.
   *
   * @example tracker.track('signup', { plan: 'pro' })
   */
  track<Name extends EventName<Events>>(event: Name, ...payload: PayloadArgument<Events[Name]>): void;
  /**
   * Tracks an event and sends it at once to the single-event endpoint, behind what is queued already. Should that
   * fail, the event is kept and travels in a batch like any other.
   *
   * @returns resolves when the event has been answered for, or has to wait; never rejects
   */
  trackNow<Name extends EventName<Events>>(event: Name, ...payload: PayloadArgument<Events[Name]>): Promise<void>;
  /**
   * Ties the visitor to the customer with this primary key: `$identify` is sent once for each visitor and key, also
   * over visits. A different key than before starts a new thread first, so that two people are never merged.
   *
   * @param primaryKey a non-empty string; anything else is refused and told to `error` listeners
   * @param properties set on the customer as by `setProperties`
   * @param options.signature what the app's server made of the primary key with `signPrimaryKey` of `clew/relay`, for a
   * relay that asks for it; remembered with the key
   */
  identify(primaryKey: string, properties?: Record<string, unknown>, options?: { signature?: string }): void;
  /**
   * Adds or changes properties of the identified customer; `null` deletes one. Without an identified customer it is
   * refused and told to `error` listeners.
   */
  setProperties(properties: Record<string, unknown>): void;
  /** Tracks a `page_view` with the page's URL, path, title and referrer; `overrides` changes or adds to them. */
  page(overrides?: Partial<PageContext> & Record<string, unknown>): void;
  /** The person has logged out: later events belong to a new, anonymous visitor. */
  reset(): void;
  /**
   * The visitor's answer, for all open tabs. `true` starts what `consent: 'required'` held back. `false` erases the visitor's
   * thread and everything unsent, in memory and in the browser's storage, and drops later calls. It is not remembered: give
   * it on every page. Anything else is refused and told to `error` listeners.
   */
  consent(granted: boolean): void;
  /** Sends what is queued now. Resolves when it is answered for, or has to wait (offline, back-off, another tab sends). */
  flush(): Promise<void>;
  /** The visitor's thread, for an app whose own servers send events of the same visitor. Waits for consent; on a server ''. */
  correlationValue(): Promise<string>;
  /** Counts of this page's events; a copy. */
  stats(): Stats;
  /**
   * Listens to `delivered`, `dropped` or `error`; inspectors also to `trace`.
   *
   * @returns stops listening
   */
  on: Listen;
  /** Removes all listeners, and hands over what is left, and what is tracked afterwards, as if the page were going away. */
  stop(): void;
}

/** Watches the page and tracks what it sees; the function it returns ends that. */
export type Plugin = (tracker: Tracker) => () => void;
