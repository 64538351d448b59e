import { timeOf } from '../recorder/event.js';
import { apply, type Call, isChange } from './calls.js';
import { markOf, newVisitor, type Visitor, versionAt } from './record.js';

/** How many changes a version may be ahead of its time, if the visitor was changed several times within a tenth of a second. */
const AHEAD = 1;

/**
 * Calls with a change of the visitor id by another page, at its place in time. This page may learn of the change late. A browser may
 * show a page from the back/forward cache a write of another tab into localStorage only a moment later.
 *
 * @param calls that wait, in the order of time
 * @param visitor the changed visitor
 */
export const withVisitor = (calls: readonly Call[], visitor: Visitor): Call[] => {
  const { since = Number.POSITIVE_INFINITY } = visitor;
  const later = calls.findIndex(({ text, at = timeOf(text ?? '') }) => versionAt(at) > since);
  const place = later < 0 ? calls.length : later;
  return [...calls.slice(0, place), { visitor }, ...calls.slice(place)];
};

/**
 * Separates calls that are older than a change of the visitor by another page. Such calls were made before the bundle had loaded, or
 * before consent. These calls must not undo that change, and their events do not belong to the new visitor.
 *
 * @param calls in the order of time
 * @param known the visitor, and since when, without these calls
 * @param past the visitor of earlier calls that came late
 * @returns the calls, of which late ones have a visitor id of their own, and the visitor of the last late call
 */
export const detachLate = (
  calls: readonly Call[],
  known: Visitor,
  past: Visitor | undefined,
  service: string,
): [calls: Call[], past: Visitor | undefined] => {
  const now = versionAt(Date.now()) + AHEAD;
  const detached: Call[] = [];
  let before = past;
  let count = 0;
  for (const call of calls) {
    const { text, key, at = timeOf(text ?? '') } = call;
    /** A version in the future is void, because the clock was set back. */
    const isBefore = (version = 0) => version <= now && versionAt(at) + AHEAD < version;
    if (!isBefore(known.turn)) {
      before = undefined;
      break;
    }
    count++;
    const [person] = known.keys[service] ?? [];
    const isSame = key && (person === key || person === markOf(key));
    if (!before && !isSame && isBefore(isChange(call) ? known.turn : known.since)) before = newVisitor();
    if (!before || call.finished) {
      detached.push(call);
      continue;
    }
    const [next, finished] = apply(before, call, service);
    before = next;
    if (text && finished) detached.push({ text, finished });
  }
  return [[...detached, ...calls.slice(count)], before];
};
