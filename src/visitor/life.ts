import type { NamedJournal } from '../outbox/journal.js';
import type { Call } from './calls.js';

/** Nothing is written or sent: consent has not been given, or the page is prerendering. */
export const WAITING = 0;
/** The database is asked who the visitor is. Calls wait meanwhile, in the journal too. */
export const ASKING = 1;
export const OPEN = 2;
/** The page has unloaded, or is in the back/forward cache. */
export const AWAY = 3;
export const REFUSED = 4;

/** The mark of the service was there when the page went away, and is missing now: the visitor may have refused meanwhile. */
export const MISSING = 1;
/** The same, although the record is there. A page that left at a refusal may have its browser delete the database just now. */
export const DOUBTED = 2;

/** The visitor has refused, in this tab or another one. */
export const ANSWER = 1;
/** The browser sends Global Privacy Control. The visitor may consent in spite of it. */
export const SIGNAL = 2;
/** This page has missed a refusal, and the visitor has consented again since. */
export const MISSED = 3;
export type Reason = typeof ANSWER | typeof SIGNAL | typeof MISSED;

/** A moment of the page's life. Awaited work compares it by identity with the moment at which it began. */
export interface Life {
  readonly at: typeof WAITING | typeof ASKING | typeof OPEN | typeof AWAY | typeof REFUSED;
  /** The database has been asked since the page loaded or came back. */
  readonly isSure?: boolean;
  /** Why this page does not know whether the visitor has refused. */
  readonly doubt?: typeof MISSING | typeof DOUBTED | undefined;
  /**
   * The visitor has consented while this page was in doubt, after this call that waits, if there was one. A refusal that the page finds in
   * the database is older.
   */
  readonly granted?: { readonly after: Call | undefined };
  /** Why nothing is written or sent. */
  readonly reason?: Reason;
  /** The page's journals since the database has last answered. Another page may have taken in their items meanwhile. */
  readonly earlier?: readonly NamedJournal[] | undefined;
  /** A visitor id for a browser without one. A page that was away, or refused, no longer knows whether it was used. */
  readonly firstId?: string | undefined;
  /** The tracker was stopped: no consent begins another life. */
  readonly isStopped?: boolean | undefined;
}
