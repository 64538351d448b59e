import type { StoredBook } from '../outbox/books.js';
import type { Handed } from '../outbox/receipts.js';
import type { Row } from '../outbox/store.js';
import type { Bisection } from './bisect.js';
import type { Change } from './judge.js';
import type { Link } from './lease.js';
import type { CourierPorts } from './ports.js';
import type { Renewal } from './renewal.js';
import type { Scope } from './scope.js';

/** The meaning of an answer for the store. The next transaction writes it. */
export interface Settling {
  readonly change: Change;
  readonly writes: readonly Row[];
  /** Handovers that are settled. */
  readonly taken?: readonly Handed[] | undefined;
}

/** The step of the courier. An awaited step compares the value that it began with. Another value means that its result is late. */
export interface State {
  /** The page's name for the lease. A page from the back/forward cache gets a new one. */
  readonly holder: string;
  /**
   * - `wait`: no pass is running.
   * - `read`: its transaction can still be aborted. Then nothing of `settling` is stored.
   * - `commit`: its transaction is as good as stored.
   * - `send`: it holds the lease.
   * - `stay away`: the page has unloaded, or is in the back/forward cache.
   */
  readonly does: 'wait' | 'read' | 'commit' | 'send' | 'stay away';
  readonly settling?: Settling | undefined;
}

/** The result of a read of the store. */
export interface Found {
  /** The link as this read has changed it. */
  readonly link: Link;
  readonly rows: readonly Row[];
  /** All unsettled rows of the service, if the read has seen the end of the store. */
  readonly all?: readonly Row[] | undefined;
  /** The books of page loads that have ended, if the read has seen the end of the store. */
  readonly ended?: readonly StoredBook[] | undefined;
  /** How many unsettled events there are. */
  readonly remaining: number;
}

/** One pass, which sends the events that were queued when it began. */
export interface Pass {
  /** How often the visitor had refused in this page's life, as the pass began. */
  readonly refusals: number;
  scope: Scope;
  /** The state that the pass has set. */
  entered: State;
  /** By the last read. */
  found: Found;
  /** The last answer has settled events. */
  hasSettled: boolean;
  /** There was nothing to send when it began. */
  readonly wasEmpty: boolean;
}

/** Ids of events, as far as their rows do not show the same. */
export interface Known {
  /** In flight, here or in another tab, or handed over. */
  readonly busy: Set<string>;
  /** Settled, and their rows may still be in the store. */
  readonly settled: Set<string>;
  /** These go to the single-event endpoint. */
  readonly singles: Set<string>;
}

/** The values that the steps of a pass and the departure share. */
export interface Desk {
  /** How often the visitor has refused in this page's life. */
  refusals: number;
  readonly ports: CourierPorts;
  readonly bisection: Bisection;
  readonly known: Known;
  state: State;
  /** As the last transaction left it. */
  link: Link;
  renewal: Renewal;
  /** How many items of the last read waited for a token. The next read takes so many more. */
  waiting: number;
}

/** Enters the next step of the pass. */
export const enter = (desk: Desk, pass: Pass, does: State['does'], settling?: Settling): void => {
  pass.entered = desk.state = { holder: pass.entered.holder, does, settling };
};

/** Whether the page has left, or the visitor has refused, since the pass began its step. The page may be back. */
export const isLate = (desk: Desk, pass: Pass): boolean => desk.state !== pass.entered;

export const isAway = ({ state }: Desk): boolean => state.does === 'stay away';
