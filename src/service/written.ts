import { isObject } from '../wire.js';

/** Whether a value can be awaited. Its rejection is then handled: one that nobody handles ends a process of Node. */
export const isPromise = (value: unknown): boolean => {
  if (!isObject(value) || typeof value.then !== 'function') return false;
  Promise.resolve(value).catch(() => {});
  return true;
};

/** Why JSON cannot hold a value that `JSON.stringify` has come to, or undefined. `before` is the value before its `toJSON`. */
const faultOf = (item: unknown, before: unknown): string | undefined => {
  if (typeof item === 'bigint') return 'a bigint';
  if ((typeof item === 'number' || item instanceof Number) && !Number.isFinite(Number(item))) return `${item}`;
  // An invalid date, for example.
  if (item === null && before !== null) return `${before}`;
  return isPromise(item) ? 'a promise' : undefined;
};

/**
 * The JSON of a value, and what it says.
 *
 * @param place names the value in the error
 * @throws TypeError for a value that JSON cannot hold, or would write as null, which deletes a property
 */
export const written = (value: unknown, place: string): { text: string; data: unknown } => {
  const expected = (name: string) => `${place}${name && `: ${name}`}: expected a value that JSON can hold`;
  let fault: string | undefined;
  // Not thrown here, because each promise in the value is to be handled.
  const check = function (this: Record<string, unknown>, name: string, item: unknown) {
    const what = faultOf(item, this[name]);
    if (what === undefined) return item;
    fault ??= `${expected(name)}, got ${what}`;
    return null;
  };
  let text: string | undefined;
  try {
    text = JSON.stringify(value, check);
  } catch (cause) {
    throw new TypeError(fault ?? `${expected('')}: ${cause}`, { cause });
  }
  if (fault !== undefined) throw new TypeError(fault);
  return { text: text ?? '', data: text === undefined ? undefined : JSON.parse(text) };
};
