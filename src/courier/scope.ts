/** Whether one of these items belongs to the pass. With `isEnd`, the store has no others. */
export type Scope = (ids: readonly string[], isEnd: boolean) => boolean;

/**
 * The scope of a pass: what was queued when it began. Of this page, that is known. Of other pages, everything counts until a
 * read has seen the end of the store.
 *
 * @param queued this page's unconfirmed items by id, now and later
 */
export const createScope = (queued: ReadonlyMap<string, unknown>): Scope => {
  const own = new Set(queued.keys());
  let others: ReadonlySet<string> | undefined;
  return (ids, isEnd) => {
    if (isEnd) others ??= new Set(ids.filter((id) => !queued.has(id)));
    return ids.some((id) => (queued.has(id) ? own.has(id) : !others || others.has(id)));
  };
};
