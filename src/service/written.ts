import { isObject } from '../wire.js';

/** Whether a value can be awaited. The function then handles the rejection, because an unhandled rejection ends a process of Node. */
export const isPromise = (value: unknown): boolean => {
  if (!isObject(value) || typeof value.then !== 'function') return false;
  Promise.resolve(value).catch(() => {});
  return true;
};

/** Handles the rejections of all promises in a value, also in what JSON leaves out. The value may have cycles, and getters that throw. */
const handle = (value: unknown, known = new Set<unknown>()): void => {
  if (value === null || !/object|function/.test(typeof value) || known.has(value)) return;
  known.add(value);
  try {
    if (isPromise(value)) return;
    const kept = value instanceof Map || value instanceof Set ? [...value.values()] : [];
    const own = Object.values(Object.getOwnPropertyDescriptors(value)).map((property) => property.value);
    for (const item of [...kept, ...own]) handle(item, known);
  } catch {}
};

/** Returns what `check` returns. If it throws, nothing waits for the promises in `given` any more. */
export const checked = <T>(given: unknown, check: () => T): T => {
  try {
    return check();
  } catch (error) {
    handle(given);
    throw error;
  }
};

/** Why JSON cannot hold a value that `JSON.stringify` visits, or undefined. `before` is the value before its `toJSON`. */
const faultOf = (item: unknown, before: unknown): string | undefined => {
  if (isPromise(before) || isPromise(item)) return 'a promise';
  if (item instanceof Map || item instanceof Set) return `a ${item.constructor.name}`;
  if (typeof item === 'bigint') return 'a bigint';
  if ((typeof item === 'number' || item instanceof Number) && !Number.isFinite(Number(item))) return `${item}`;
  // An invalid date, for example.
  return item === null && before !== null ? `${before}` : undefined;
};

/**
 * The JSON of a value, and the value that the JSON expresses.
 *
 * @param place names the value in the error
 * @throws TypeError for a value that JSON cannot hold, or would write as null, which deletes a property
 */
export const written = (value: unknown, place: string): { text: string; data: unknown } => {
  const expected = (name: string) => `${place}${name && `: ${name}`}: expected a value that JSON can hold`;
  const check = function (this: Record<string, unknown>, name: string, item: unknown) {
    const what = faultOf(item, this[name]);
    if (what !== undefined) throw new TypeError(`${expected(name)}, got ${what}`);
    // JSON leaves it out.
    if (typeof item === 'function') handle(item);
    return item;
  };
  try {
    const text = JSON.stringify(value, check);
    return { text: text ?? '', data: text === undefined ? undefined : JSON.parse(text) };
  } catch (cause) {
    handle(value);
    if (cause instanceof TypeError && cause.message.startsWith(place)) throw cause;
    throw new TypeError(`${expected('')}: ${String(cause)}`, { cause });
  }
};
