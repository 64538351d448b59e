import type { DropReason, Trace } from '../api/signals.js';
import type { Stats } from '../api/types.js';
import { bare } from './bare.js';
import type { Second } from './rate.js';
import { newRequests, type Requests } from './requests.js';

/** The path of an event, as far as the inspector has seen it. Times are ms since the epoch. A missing time was not seen. */
export interface SeenEvent {
  readonly uuid: string;
  name?: string | undefined;
  payload?: unknown;
  /** The visitor id, once the event has one. */
  visitorId?: string | undefined;
  /** The inspector saw the event as it was tracked: of this page, and not from before the inspector was opened. */
  isTracked?: boolean;
  /** By its own timestamp, which is the time of the call. */
  trackedAt?: number;
  storedAt?: number;
  /** When it went out last. */
  sentAt?: number;
  /** Numbers of the requests that took it. */
  readonly requests: number[];
  endedAt?: number;
  end?: 'delivered' | DropReason;
  /** Only the totals show this end: another page has confirmed the event, and no signal has reported it. */
  isCounted?: boolean | undefined;
  /** Why the relay or the service refused it. */
  why?: string | undefined;
}

/** The visitor. */
export interface SeenVisitor {
  /** Undefined after a refusal. */
  readonly visitorId: string | undefined;
  readonly primaryKey?: string | number | undefined;
  /** The tracker has reported the visitor. Otherwise it is learned from delivered events, and a key may be missing. */
  readonly isReported: boolean;
}

/** The inspector's knowledge of a tracker. */
export interface Model {
  /** When it began to look. */
  readonly openedAt: number;
  /** How many events had been tracked before. Unknown until the tracker reports its sums. */
  before?: number;
  /** The tracker's sums, counted on since its last report. */
  stats: Stats;
  /** The last events seen, oldest first. */
  readonly events: Map<string, SeenEvent>;
  /** Events that were seen and are not kept any more. */
  forgotten: number;
  /** Events without an end, by whether they are in IndexedDB. */
  readonly waiting: Map<string, { readonly name: string; isStored: boolean }>;
  /** How many events of `waiting` the tracker's sums did not count as queued any more at the last look. */
  surplus: number;
  readonly requests: Requests;
  /** Upserts that the service rejected, until clew sends them again or their end is known. */
  readonly refusedUpserts: Set<string>;
  visitor?: SeenVisitor;
  link?: Extract<Trace, { step: 'link' }>;
  /** The last errors, oldest first. */
  readonly errors: { readonly at: number; readonly message: string }[];
  readonly seconds: Second[];
}

export const newModel = (openedAt: number): Model =>
  bare<Model>({
    openedAt,
    stats: { tracked: 0, delivered: 0, queued: 0, dropped: {} },
    events: new Map(),
    forgotten: 0,
    waiting: new Map(),
    surplus: 0,
    requests: newRequests(),
    refusedUpserts: new Set(),
    errors: [],
    seconds: [],
  });

/** How many events are lost, for whatever reason. */
export const lostIn = ({ dropped }: Stats): number => Object.values(dropped).reduce((sum, count) => sum + count, 0);
