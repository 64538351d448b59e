import { idOf } from '../recorder/event.js';
import { carriedList, carry, SETTLED, TAB } from './carryOver.js';
import type { Journal } from './journal.js';
import type { Sent } from './queue.js';

/** So many ids and names are kept, the latest. */
const MOST_SETTLED = 1e3;
const MOST_LEFT = 9;

/**
 * What pages write for those that come after them, because the database may not have it: these events need not be sent any more though
 * a row or a journal may have them, and the lease of a page that leaves is void.
 */
export const createFarewell = (service: string, journal: Journal) => {
  const key = `${TAB} ${service}`;
  const add = (to: string, names: readonly string[], most: number) => {
    if (names[0]) carry(to, [...carriedList(to), ...names].slice(-most));
  };
  return {
    /** @param lease the page's name for the lease, if it may have left one in the store */
    write(settled: ReadonlySet<string>, lease: string) {
      add(SETTLED, [...settled], MOST_SETTLED);
      add(key, [lease], MOST_LEFT);
    },
    /** These events of other pages are settled. A page that has gone cannot delete them from its journal. */
    settle(sent: readonly Sent[] = []) {
      const pages = journal.pages();
      const journaled = sent.filter(([page]) => pages.includes(page));
      add(
        SETTLED,
        journaled.flatMap(([, ...texts]) => texts.map(idOf)),
        MOST_SETTLED,
      );
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
