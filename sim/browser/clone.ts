/** An object is plain if its prototype has no prototype. That also holds for an object of another realm. */
const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** `structuredClone`, which takes Node several times longer than a copy of plain data. Cycles are not supported. */
export const clone = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' || typeof value === 'symbol' ? structuredClone(value) : value;
  if (Array.isArray(value)) return value.map(clone) as T;
  if (!isPlain(value)) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) copy[key] = clone((value as Record<string, unknown>)[key]);
  return copy as T;
};
