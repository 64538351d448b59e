import type { MakeRenewal } from '../courier/renewal.js';
import type { PageContext } from '../page/context.js';
import type { SeenEvent } from '../recorder/prepare.js';
import type { Properties } from '../wire.js';
import type { DropReason, Listen } from './signals.js';

/** Event names and their payloads: `{ signup: { plan: 'free' | 'pro' }; 'cart viewed': undefined }`. */
export type EventMap = object;

/** Any name with any payload, for a tracker without declared events. */
export type AnyEvents = Record<string, unknown>;

/** The names of the declared events. */
export type EventName<Events extends EventMap> = keyof Events & string;

/** The declared payload. For a union of names, the payload has to fit each name, like a parameter of a union of functions. */
type Payload<Events extends EventMap, Name extends keyof Events> = (
  Name extends unknown
    ? (payload: Events[Name]) => void
    : never
) extends (payload: infer P) => void
  ? P
  : never;
/** No payload where it may be undefined, else exactly the declared one. */
type PayloadArgument<P> = undefined extends P ? [payload?: P] : [payload: P];

/** Counts of this page's events since the tracker was created. `tracked` equals `delivered` plus `queued` plus all of `dropped`. */
export interface Stats {
  /**
   * Events of this page, and events of other pages that this page has taken in from their journals. While this page sends for all
   * tabs, also events of other pages that it drops as `expired` or `rejected`.
   */
  tracked: number;
  /** Events that the service confirmed. Without a relay, also events that clew handed over on a proven link during unload. */
  delivered: number;
  /** Unconfirmed events, in memory and, unless the browser refuses, in IndexedDB. */
  queued: number;
  /** Events that will not be delivered, by reason. A reason without events is missing. */
  dropped: Partial<Record<DropReason, number>>;
}

/** A tracker of one visitor for one service. No method ever throws into the page. */
export interface Tracker<Events extends EventMap = AnyEvents> {
  /**
   * Tracks an event. clew copies the payload in the call.
   *
   * For an invalid name, or a payload that JSON cannot express, clew drops the event and emits `error` and `dropped`.
   *
   * @example tracker.track('signup', { plan: 'pro' })
   */
  track<Name extends EventName<Events>>(event: Name, ...payload: PayloadArgument<Payload<Events, Name>>): void;
  /**
   * Tracks an event and sends it at once to the single-event endpoint, after the queued events. If the request fails, clew keeps
   * the event and sends it in a batch. While another tab sends, the event may go in a batch.
   *
   * @returns a promise that resolves once the event is confirmed, dropped, or waiting to retry (offline, in back-off, or while another
   * tab sends), and never rejects. Before consent it resolves at once
   */
  trackNow<Name extends EventName<Events>>(
    event: Name,
    ...payload: PayloadArgument<Payload<Events, Name>>
  ): Promise<void>;
  /**
   * Ties the visitor id to the customer with this primary key. clew sends `$identify` once for each visitor id and primary key,
   * also across visits. A different primary key starts a new visitor id first, so two customers are never merged.
   *
   * @param primaryKey a non-empty string, such as the customer's id in your database. For anything else, clew emits `error` and
   * ignores the call.
   * @param properties properties of the customer, as for `setProperties`
   * @param options.signature for a relay that requires it: the primary key's signature by `signPrimaryKey` of `clew/relay`, or an
   * identity token by `signIdentity`. clew stores it with the primary key.
   */
  identify(primaryKey: string, properties?: Properties, options?: { signature?: string | undefined }): void;
  /**
   * Adds or changes properties of the customer. A property with the value `null` is deleted. Before `identify`, clew keeps the
   * properties on the visitor's device, and sends them after the next `$identify` of this visitor id. `reset` discards them.
   */
  setProperties(properties: Properties): void;
  /**
   * Tracks a `page_view` with the page's URL, path, title and referrer. `overrides` replaces or adds properties. `undefined` leaves
   * a property out.
   */
  page(overrides?: { [Name in keyof PageContext]?: PageContext[Name] | undefined } & Properties): void;
  /** Starts a new, anonymous visitor id in every tab. Call it after log-out. */
  reset(): void;
  /**
   * Takes the visitor's answer, for all open tabs. `true` starts a tracker that waits because of `consent: 'required'`. `false`
   * erases the visitor id and all unsent events, in memory and in the browser's storage. After `false`, clew drops later calls.
   * clew does not store the answer, so call `consent` on every page. For anything else, clew emits `error` and ignores the call.
   */
  consent(granted: boolean): void;
  /**
   * Sends the queue. Resolves once each queued event is confirmed, dropped, or waiting to retry (offline, in back-off, or while
   * another tab sends). Before consent, resolves at once.
   */
  flush(): Promise<void>;
  /**
   * Resolves to the visitor id, for your own servers. Waits for consent. On a server, resolves to ''. Rejects after a refusal,
   * until `consent(true)`, and after an early `stop()`.
   */
  correlationValue(): Promise<string>;
  /** Returns a copy of the counts of this page's events. */
  stats(): Stats;
  /**
   * Listens to `delivered`, `dropped`, `change`, `error` or `token-expired`. Inspectors also listen to `trace`.
   *
   * @returns a function that removes the listener
   */
  on: Listen;
  /**
   * Starts a plugin, as the option `plugins` does. The plugin sees only events that are tracked later. After `stop()`, no plugin
   * starts.
   *
   * @example clew('use', (tracker) => tracker.on('error', console.warn))
   */
  use(plugin: Plugin): void;
  /** Removes clew's listeners from the page and hands over unsent and later events, as when the page unloads. */
  stop(): void;
}

/**
 * Extends a tracker. A plugin is a function that starts with the tracker, also while the browser prerenders the page. The plugin
 * returns a function that undoes everything, such as listeners. `stop()` calls that function. If either throws, clew emits `error`.
 *
 * @example
 * tracker.use(({ track }) => {
 *   const onCopy = () => track('text_copied');
 *   document.addEventListener('copy', onCopy);
 *   return () => document.removeEventListener('copy', onCopy);
 * });
 */
export type Plugin = (tracker: Tracker, tools: PluginTools) => () => void;

/** The second argument of a plugin. */
export interface PluginTools {
  /** Returns the visitor id as this page knows it: `undefined` before consent and after a refusal. */
  visitorId(): string | undefined;
  /**
   * Returns whether the visitor is identified as this customer, as this page knows it: false before consent and after a refusal. Another
   * tab may have identified another customer.
   */
  isCustomer(primaryKey: string | undefined): boolean;
  /**
   * Calls `see` with each event within the call that tracks it, before clew stores the event. `see` may return properties, which clew
   * adds as those of `context`, or `false` to drop the event (`filtered`). `see` is synchronous and must not track events itself.
   * `see` runs before `context` and `beforeSend`, and also after `stop()`. clew does not pass `$identify` to `see`. If `see` throws,
   * clew emits `error` and keeps the event.
   */
  onTrack(see: (event: SeenEvent) => Properties | false | undefined): void;
  /**
   * Returns the payload that clew would store of such an event, after all plugins, `context` and `beforeSend`. Returns `undefined` if
   * they drop the event. Use it before you keep an event that may never be tracked: `beforeSend` may remove secrets from it.
   */
  preview(event: string, payload: object): object | undefined;
  /**
   * Lets `renewTokens` keep items back until it has a new token. The form of this method may change in any version, so do not depend
   * on it.
   */
  renewBy(make: MakeRenewal): void;
  /** Names the service of the tracker, as the option `storageName` does. Put it into the keys of values that no other service may get. */
  readonly service: string;
  /** Keeps values in localStorage, for all pages of the origin. */
  readonly local: PluginStorage;
  /** Keeps values in sessionStorage, until the tab is closed. */
  readonly session: PluginStorage;
}

/**
 * A small storage that obeys the visitor's consent. All plugins of all trackers of the origin share it, so begin each key with the
 * plugin's name. A refusal erases it, in every open tab. Without consent it can be read, and not written.
 */
export interface PluginStorage {
  /** Returns a stored value, from this page or an earlier one. Returns `undefined` without a value. */
  get(key: string): unknown;
  /**
   * Stores a value as JSON. `undefined` deletes it.
   *
   * @returns whether that worked: false before consent, after a refusal, while prerendering, and if the browser refuses storage
   */
  set(key: string, value: unknown): boolean;
}
