import { isObject } from '../wire.js';

/** A visitor's session, as it is stored for all tabs. */
export interface Session {
  readonly id: string;
  /** Counts the visitor's sessions on this origin, from 1. */
  readonly number: number;
  /** The time of the session's last event, in ms since the epoch. */
  readonly at: number;
  /** The campaign that has brought the visitor. */
  readonly campaign?: string | undefined;
  /** The visitor id. Undefined if it is not known yet. */
  readonly by?: string | undefined;
}

/** An event, as far as it matters to a session. */
export interface Moment {
  /** When it happened. A call that is replayed has happened before now. */
  readonly at: number;
  readonly now: number;
  readonly by: string | undefined;
  /** A campaign that has just brought the visitor. */
  readonly campaign: string | undefined;
}

/** A stored session. Any code of the origin may have written it. */
export const sessionIn = (stored: unknown): Session | undefined => {
  const isSession =
    isObject(stored) &&
    typeof stored.id === 'string' &&
    Number.isSafeInteger(stored.number) &&
    Number.isFinite(stored.at);
  return isSession ? (stored as unknown as Session) : undefined;
};

/** The stored session or the page's own, whichever has the later event. The browser may refuse the storage. */
export const latest = (stored: Session | undefined, known: Session | undefined): Session | undefined =>
  stored && known && known.at > stored.at ? known : (stored ?? known);

/** Whether the session may be that of this visitor. */
export const isOf = ({ by }: Session, visitor: string | undefined): boolean => !by || !visitor || by === visitor;

/** The session of an event, after the one before. `makeId` is called for a new one. */
export const sessionAt = (
  last: Session | undefined,
  { at, now, by, campaign }: Moment,
  timeout: number,
  makeId: () => string,
): Session => {
  if (!last || !isOf(last, by)) return { id: makeId(), number: 1, at, campaign, by };
  const isOther = at - last.at >= timeout || (!!campaign && campaign !== last.campaign);
  if (isOther) return { id: makeId(), number: last.number + 1, at, campaign, by: by ?? last.by };
  // An event that is replayed does not make the last one older. After the clock was set back, the last one is in the future.
  return { ...last, at: Math.min(Math.max(last.at, at), now), campaign: campaign ?? last.campaign, by: by ?? last.by };
};
