import { MAX_DEPTH } from '../../src/service/eventFault.ts';

/** Postgres text holds neither NUL nor half of a surrogate pair. One odd character is no reason to lose a whole batch. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

/**
 * A copy of parsed JSON that Postgres can hold.
 *
 * @throws {RangeError} with the expected value as its message
 */
export function makeStorable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storableText(value);
  // JSON.parse makes Infinity of 1e999, and JSON.stringify makes `null` of that, which deletes a property in an upsert.
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('numbers below 1.8e308');
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) throw new RangeError(`at most ${MAX_DEPTH} levels of nesting`);
  if (Array.isArray(value)) return value.map((item) => makeStorable(item, depth + 1));
  // fromEntries defines its keys where an assignment would set the prototype through `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key), makeStorable(item, depth + 1)]),
  );
}
