import { type Life, MISSING } from './life.js';

/** The visitor has refused without this page's knowledge. */
export const MISSED = 1;
/** The same, and has consented again since. */
export const RENEWED = 2;
/** Not certain yet: the database is to be asked again soon. */
export const SOON = 3;

/** The signs that a page has as the database answers. */
export interface Signs {
  /** A refusal may have erased the record. */
  readonly isErased: boolean;
  /** The record, or without one localStorage, is of another epoch than this page. */
  readonly isOther: boolean;
  /** The visitor has refused between this page's epoch and that one. */
  readonly isRenewed: boolean;
  /** The mark in localStorage is missing, or it is that of another page. */
  readonly isMissing: boolean;
  /** Why this page, which is back, does not know whether the visitor has refused. */
  readonly doubt: Life['doubt'];
  /** This page has been open all the time, and would have received a message about a refusal. */
  readonly isInformed: boolean;
  /** The database has been asked again already. */
  readonly isRepeated: boolean;
}

/** Decides whether the visitor has refused, from what is left in the record and in localStorage. Undefined if not. */
export const judgeRecord = (signs: Signs): typeof MISSED | typeof RENEWED | typeof SOON | undefined => {
  const { isErased, isOther, isRenewed, isMissing, doubt, isInformed, isRepeated } = signs;
  // Otherwise the site's data were deleted, and perhaps another page has stored them anew.
  // A page that is back may find the record of a consent that the visitor is withdrawing just now. The next answer shows that.
  if (isRenewed || (isOther && !isInformed)) return doubt === MISSING && !isErased ? SOON : RENEWED;
  if (isErased && (isMissing || doubt) && !isInformed) return MISSED;
  // The message about a refusal may be late.
  return (isOther || isMissing) && !isRepeated ? SOON : undefined;
};
