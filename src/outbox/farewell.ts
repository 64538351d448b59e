import { idOf, isEvent } from '../recorder/event.js';
import type { Journal } from './journal.js';
import { type Local, readList, SETTLED, TAB, writeEntry } from './local.js';
import type { Sent } from './queue.js';

/** How many ids of settled items are remembered, the latest. */
export const MOST_SETTLED = 1e3;
/** Most names of pages that have left, the latest. */
const MOST_LEFT = 9;

/** Receives ids in place of the pages that have settled them, and have left since. */
type Receive = (taken: string[], done: string[], rejected: string[]) => void;

/**
 * Notes that a page leaves to later pages, because the database may lack them. The notes name settled events that a row or a journal
 * may still have, and the leases of pages that have left, which are void. A page with unsent properties leaves such a note, too.
 */
export const createFarewell = (service: string, journal: Journal, local?: Local) => {
  const leases = `${TAB} ${service}`;
  const done = `${SETTLED} ${service}`;
  const add = (to: string, names: readonly string[], most: number) => {
    const added = new Set<unknown>(names);
    const before = readList(to, local).filter((name) => !added.has(name));
    if (names[0]) writeEntry(to, local, [...before, ...names].slice(-most));
  };
  const settled = (receive?: Receive | false): ReadonlySet<unknown> => {
    const ids = readList(done, local) as string[];
    if (receive) receive(ids, ids, []);
    return new Set(ids);
  };
  return {
    /** @param lease the page's name for the lease, if it may have left one in the store, or properties */
    write(ids: ReadonlySet<string>, lease: string) {
      add(done, [...ids], MOST_SETTLED);
      add(leases, [lease], MOST_LEFT);
    },
    /**
     * These events of other pages are settled. A page that has gone cannot delete them from its journal.
     *
     * @param handed ids of events that some page has handed over, that its journal may have, and that the store may lack
     */
    settle(sent: readonly Sent[] = [], handed: readonly string[] = []) {
      const pages = journal.pages();
      const journaled = sent.flatMap(([page, ...texts]) => (pages.includes(page) ? texts.map(idOf) : []));
      add(done, [...journaled, ...(pages[0] ? handed : [])], MOST_SETTLED);
    },
    hasLeft: (lease: string) => readList(leases, local).includes(lease),
    /** Whether other pages may have properties that no service has confirmed: in a row, in flight, or in a journal. */
    mayHaveProperties: () =>
      !!readList(leases, local)[0] ||
      journal.others(Number.POSITIVE_INFINITY).some(({ texts }) => !texts.every(isEvent)),
    settled,
    /** The tab with the lease deletes the rows, and has ended the leases. The journals that are still there may have settled events. */
    takeOver(receive: Receive) {
      writeEntry(leases, local);
      if (settled().size) settled(receive);
      if (!journal.pages()[0]) writeEntry(done, local);
    },
  };
};

export type Farewell = ReturnType<typeof createFarewell>;
