import type { ItemText } from '../recorder/event.js';
import { sumOf } from '../wire.js';
import type { Row } from './store.js';

/** Most characters of all events that a service has in the storage of an origin, however few the events are. */
const MOST_LENGTH = 1e7;
/** Most characters of an event on average, if `maxQueuedEvents` allows more events than usual. */
const LENGTH = 1e3;

/**
 * How much the pages of an origin hold for a service, stored or not, in events. A long event counts for several, so that one
 * number bounds the characters, too.
 */
export interface Size {
  /** How many events these count for. */
  of(texts: readonly ItemText[]): number;
  /** This page has added events, or settled events of any page. */
  change(by: number): void;
  /** Another page reports such a change. */
  receive(by: number): void;
  /** Takes over the rows of a read. The page knows of `unsaved` events beside them. */
  count(rows: readonly Row[], unsaved: readonly ItemText[]): void;
  /** Reports this page's changes to the other pages. Small ones wait as long as there is room for as many events again. */
  publish(): void;
  isFull(waiting: number): boolean;
}

interface Tally {
  readonly size: number;
  readonly unposted: number;
}

/**
 * @param most how many events the origin may hold
 * @param batch other pages need not know of a smaller change
 * @param post reports a change to the other pages
 */
export const createSize = (most: number, batch: number, post: (by: number) => void): Size => {
  const share = Math.max(MOST_LENGTH / most, LENGTH);
  /** How much the origin holds, and the part of the change that no other page knows. */
  let tally: Tally = { size: 0, unposted: 0 };
  const of = (texts: readonly ItemText[]) => sumOf(texts, (text) => Math.max(text.length / share, 1));
  return {
    of,
    change(by) {
      tally = { size: tally.size + by, unposted: tally.unposted + by };
    },
    receive(by) {
      tally = { ...tally, size: tally.size + by };
    },
    count(rows, unsaved) {
      // Rows of earlier versions and of other code lack their size.
      const sizeOf = ([[, , , , held = 0], texts]: Row) => (held > 0 ? held : (texts?.length ?? 1));
      tally = { ...tally, size: sumOf(rows, sizeOf) + of(unsaved) };
    },
    publish() {
      const { size, unposted } = tally;
      if (!unposted || (Math.abs(unposted) < batch && size * 2 < most)) return;
      post(unposted);
      tally = { size, unposted: 0 };
    },
    isFull: (waiting) => tally.size + waiting >= most,
  };
};
