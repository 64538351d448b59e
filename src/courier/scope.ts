import type { Row } from '../outbox/store.js';

/** Whether one of these rows belongs to the pass. With `isEnd`, the store has no others. */
export type Scope = (rows: readonly Row[], isEnd: boolean) => boolean;

/**
 * The scope of a pass: what was queued when it began. Of this page, that is known. Of other pages, everything counts until a
 * read has seen the end of the store.
 *
 * @param page names this page's rows
 * @param latest the number of this page's latest row when the pass began
 */
export const createScope = (page: string, latest: number): Scope => {
  let others: ReadonlySet<string> | undefined;
  return (rows, isEnd) => {
    if (isEnd) others ??= new Set(rows.map(([key]) => `${key}`));
    return rows.some(([key]) => (key[3] === page ? key[2] <= latest : !others || others.has(`${key}`)));
  };
};
