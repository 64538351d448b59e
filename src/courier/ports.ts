import type { Farewell } from '../outbox/farewell.js';
import type { Queue, Sent } from '../outbox/queue.js';
import type { Receipts } from '../outbox/receipts.js';
import type { Entry, Store } from '../outbox/store.js';
import type { ItemText } from '../recorder/event.js';
import type { Batch, BatchLimits } from './cut.js';
import type { Flight } from './flight.js';
import type { Link } from './lease.js';
import type { Answer } from './transport.js';

/**
 * What the sending tab reports to itself and to the other tabs: ids in flight, settled ids, which of these were rejected, and
 * the settled events themselves, because their pages may have them in the store only. Earlier versions leave those out.
 */
export type Report = readonly [
  taken: readonly string[],
  done: readonly string[],
  rejected: readonly string[],
  sent?: readonly Sent[],
];

/** A compressed body. */
export type Packed = Uint8Array<ArrayBuffer> | undefined;

/** The courier's ports. */
export interface CourierPorts {
  readonly store: Store;
  readonly queue: Queue;
  /** Names the service's rows in the store. */
  readonly service: string;
  /** Makes a name for the lease that no other page and no other tracker ever has. */
  makeName(): string;
  /** The page's clock, for the relay. */
  clock(): readonly number[];
  /** What pages leave to those that come after them. */
  readonly farewell: Pick<Farewell, 'hasLeft' | 'settle'>;
  /** `flushInterval`: ms from an event's arrival to the request that takes it, over a link that is proven. */
  readonly limits: BatchLimits & { readonly flushInterval: number; readonly maxAge: number };
  /** There is no relay that drops duplicates. */
  readonly isDirect: boolean;
  /** What the relay is to be asked about. Undefined without a relay. */
  readonly receipts: Receipts | undefined;
  readonly flight: Flight;
  /** Compresses the batch's body. If it rejects, the body is sent as it is. */
  pack(body: string): Promise<Packed>;
  /** Sends a batch. */
  send(batch: Batch, leaving: boolean, packed?: Packed): Promise<Answer> | false;
  /** Leaves a batch with the browser, which sends it when the page ends; returns how to abort it, or undefined if the browser does not send it. */
  defer(batch: Batch): (() => void) | undefined;
  /** The items that wait for no identity token, each with its latest one. */
  ready(items: readonly ItemText[]): readonly ItemText[];
  /** The items of a batch and its answer, without the items that wait for a new identity token from now on. */
  withoutExpired(items: readonly ItemText[], answer: Answer): readonly [readonly ItemText[], Answer];
  /** Receives reports for the other tabs. */
  onReport(report: Report): void;
  /** Events of other pages are dropped. Those of this page follow as settled. */
  onLost(items: ItemText[], reason: 'rejected' | 'expired'): void;
  /** Events of this page are settled, whichever tab sent them. */
  onSettled(items: ItemText[], rejected: readonly string[]): void;
  onError(message: string | undefined): void;
  /** A batch was answered, or has failed. */
  onAnswer(uuids: string[], answer: Answer): void;
  /** A transaction has read or changed the link. `tab` is the page's name for the lease. */
  onLink(link: Link, tab: string): void;
}

/** Sends what is queued: one request at a time over all tabs of an origin, the oldest events first. */
export interface Courier {
  /** An event was queued. */
  added(): void;
  /**
   * Sends what is queued. Resolves when it is confirmed, dropped or waiting to retry. With `force` a back-off ends, but neither a
   * pause that an answer has asked for nor the wait after this page's key or address was refused.
   */
  flush(force?: boolean): Promise<void>;
  /** Another tab, or this one, reports. */
  receive(...report: Report): void;
  /** This event is to go to the single-event endpoint. */
  single(id: string): void;
  /** Ids that are settled or handed over, and whose rows may still be in the store. */
  settled(): ReadonlySet<string>;
  /**
   * The page unloads: hands over what is queued, and from now on at once what is still added. Returns the page's name for the lease if
   * it may leave the lease in the store, else ''. The caller journals that, because a page that leaves can write there, but cannot
   * read first.
   *
   * @param isUnloading the browser is unloading the page, or puts it into the back/forward cache
   * @param records what else is to be stored, in the same transaction: of several, a page that leaves may get only the first one done
   */
  leave(records?: readonly Entry[], isUnloading?: boolean): string;
  /** Whether a transaction of the courier is open. The database queues every other one behind it, even one that is committed. */
  isReading(): boolean;
  /** The visitor has refused: nothing that is under way is sent or written any more, and the browser sends nothing either. */
  forget(): void;
  /** The page is back: the next flush sends what was queued meanwhile. */
  restore(): void;
}
