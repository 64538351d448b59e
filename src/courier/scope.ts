import type { Row } from '../outbox/store.js';

/** The scope of a pass: the events that were queued when it began. */
export interface Scope {
  /** Names this page's rows. */
  readonly page: string;
  /** The number of this page's latest row when the pass began. */
  readonly latest: number;
  /** The rows of other pages, once a read has seen the end of the store. Until then, all of them belong to the pass. */
  readonly others?: ReadonlySet<string>;
}

/** A read has seen the end of the store: it has no other rows than these. */
export const withEnd = (scope: Scope, rows: readonly Row[]): Scope =>
  scope.others ? scope : { ...scope, others: new Set(rows.map(([key]) => `${key}`)) };

/** Whether one of these rows belongs to the pass. */
export const isDue = ({ page, latest, others }: Scope, rows: readonly Row[]): boolean =>
  rows.some(([key]) => (key[3] === page ? key[2] <= latest : !others || others.has(`${key}`)));
