import type { Books } from '../outbox/books.js';
import type { Farewell } from '../outbox/farewell.js';
import type { Queue, Sent } from '../outbox/queue.js';
import type { Receipts } from '../outbox/receipts.js';
import type { Entry, Store } from '../outbox/store.js';
import type { ItemText } from '../recorder/event.js';
import type { Batch, BatchLimits } from './cut.js';
import type { Flight } from './flight.js';
import type { Link } from './lease.js';
import type { Renewal } from './renewal.js';
import type { Answer } from './transport.js';

/**
 * The report of the sending tab to itself and to the other tabs: ids in flight, settled ids, rejected ids, and texts of settled
 * events. A page needs the texts of its events that only the store has. Earlier versions leave the texts out.
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
  /** Notes that pages leave to later pages. */
  readonly farewell: Pick<Farewell, 'hasLeft' | 'mayHaveProperties' | 'settle'>;
  /** `flushInterval`: ms from an event's arrival to the request that takes it, over a link that is proven. */
  readonly limits: BatchLimits & { readonly flushInterval: number; readonly maxAge: number };
  /** There is no relay that drops duplicates. */
  readonly isDirect: boolean;
  /** Handovers that the relay is asked about. Undefined without a relay. */
  readonly receipts: Receipts | undefined;
  /** The accounts of page loads. Undefined without a relay. */
  readonly books: Books | undefined;
  readonly flight: Flight;
  /** Compresses the batch's body. If it rejects, the body is sent as it is. */
  pack(body: string): Promise<Packed>;
  /** Sends a batch. */
  send(batch: Batch, leaving: boolean, packed?: Packed): Promise<Answer> | false;
  /** Leaves a batch with the browser, which sends it when the page ends. Returns a function that aborts that, or undefined without `fetchLater`. */
  defer(batch: Batch): (() => void) | undefined;
  /** This item was rejected. Returns whether it waits for the next `$identify` of its customer. */
  keep(item: ItemText): boolean;
  /** Receives reports for the other tabs. */
  onReport(report: Report): void;
  /** Events of other pages are dropped. Returns the function that reports it to the listeners. */
  onLost(items: ItemText[], reason: 'rejected' | 'expired'): () => void;
  /** Events of this page are settled, whichever tab sent them. */
  onSettled(items: ItemText[], rejected: readonly string[], isOthers?: boolean): void;
  onError(message: string | undefined): void;
  /** A batch was answered, or has failed. If the relay states that a handover has arrived, that is answered, too: `delivered`, no status. */
  onAnswer(uuids: string[], answer: Answer): void;
  /** A transaction has read or changed the link. `tab` is the page's name for the lease. */
  onLink(link: Link, tab: string): void;
}

/** Sends the queue: one request at a time over all tabs of an origin, the oldest events first. */
export interface Courier {
  /** An event was queued. */
  added(): void;
  /** An event was dropped for lack of room: a pass within `flushInterval` counts the stored events. */
  lookSoon(): void;
  /**
   * Sends the queue. Resolves when its events are confirmed, dropped or waiting to retry. `force` ends a back-off, but no pause by
   * `Retry-After`, and no wait after a refusal of this page's key or address.
   */
  flush(force?: boolean): Promise<void>;
  /** Another tab, or this one, reports. */
  receive(...report: Report): void;
  /** This event is to go to the single-event endpoint. */
  single(id: string): void;
  /** From now on, items whose identity token has expired wait for a new one. */
  renewBy(renewal: Renewal): void;
  /** Ids that are settled or handed over, and whose rows may still be in the store. */
  settled(): ReadonlySet<string>;
  /**
   * The page unloads. The courier hands over the queue now, and later events as soon as they are added. Returns the page's name for
   * the lease if the store may keep the lease or unconfirmed properties, else ''. The caller notes that name for later pages, because a
   * leaving page cannot read the store.
   *
   * @param isUnloading the browser is unloading the page, or puts it into the back/forward cache
   * @param records other records to store in the same transaction, because a leaving page may get only its first transaction done
   */
  leave(records?: readonly Entry[], isUnloading?: boolean): string;
  /** Whether a transaction of the courier is open. The database queues every other one behind it, even one that is committed. */
  isReading(): boolean;
  /** The visitor has refused. From now on neither the courier nor the browser sends or writes anything, running requests included. */
  forget(): void;
  /** The page is back. The next flush sends the events that were queued meanwhile. */
  restore(): void;
}
