import { kindOf } from '../wire.js';

/** Names wrong data without their text. Dates and lists have a name of their own, because both are objects. */
export const kindOfData = (data: unknown): string =>
  data instanceof Date ? 'a Date' : Array.isArray(data) ? 'a list' : kindOf(data);
