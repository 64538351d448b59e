import { isObject, kindOf } from '../wire.js';

/** Names wrong data without their text. Dates and lists have a name of their own, because both are objects. */
export const kindOfData = (data: unknown): string =>
  data instanceof Date ? 'a Date' : Array.isArray(data) ? 'a list' : kindOf(data);

/** The fault of a value that has to be an object, also as JSON, or undefined. A `toJSON` may have made anything of an object. */
export const objectFault = (value: unknown, data: unknown): string | undefined => {
  if (isObject(value) && isObject(data)) return;
  const isNamed = !isObject(value) || value instanceof Date;
  return `expected an object, got ${kindOfData(isNamed ? value : data)}`;
};
