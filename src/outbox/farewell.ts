import { carriedList, carry, SETTLED, TAB } from './carryOver.js';

/** So many ids and names are kept, the latest. */
const MOST_SETTLED = 1e3;
const MOST_LEFT = 9;

/**
 * What a page that leaves writes for the others, because the database may not have it: its lease is void, and these events need not be
 * sent any more though their rows may be there.
 */
export const createFarewell = (service: string) => {
  const key = `${TAB} ${service}`;
  return {
    /** @param lease the page's name for the lease, if it may have left one in the store */
    write(settled: ReadonlySet<string>, lease: string) {
      if (settled.size) carry(SETTLED, [...carriedList(SETTLED), ...settled].slice(-MOST_SETTLED));
      if (lease) carry(key, [...carriedList(key), lease].slice(-MOST_LEFT));
    },
    hasLeft: (lease: string) => carriedList(key).includes(lease),
    /** None of the leases that pages had when they left is in the store any more. */
    forgetLeases: () => void carry(key),
    /** @param report reports the ids in place of the pages that settled them, which have left; then they are forgotten here */
    settled(report?: (taken: string[], done: string[], rejected: string[]) => void): ReadonlySet<unknown> {
      const ids = carriedList(SETTLED) as string[];
      report?.(ids, ids, []);
      if (report) carry(SETTLED);
      return new Set(ids);
    },
  };
};
