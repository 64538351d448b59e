import { type ItemText, stamp } from '../recorder/event.js';
import type { Finished } from './calls.js';

/**
 * Adds the visitor to items, and to each event its number, by which a relay counts missing events.
 *
 * @param page the number of this page load, or 0 while it has none
 * @param isNumbered whether there is a relay. The service does not read the numbers.
 */
export const createNumbering = (page: () => number, isNumbered: boolean) => {
  /** How many events each page load and visitor id has. A page from the back/forward cache gets a new number. */
  const counts: Record<string, number> = {};
  return ([draft, known]: Finished): ItemText => {
    const { correlationValue } = known ?? {};
    const number = page();
    if (!correlationValue || !number || !isNumbered) return stamp(draft, known ?? {});
    const key = `${number} ${correlationValue}`;
    counts[key] = (counts[key] ?? 0) + 1;
    return stamp(draft, { seq: [number, counts[key]], ...known });
  };
};
