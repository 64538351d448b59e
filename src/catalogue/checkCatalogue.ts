import { isObject } from '../wire.js';
import type { Catalogue } from './schema.js';

/**
 * Checks that a value is a catalogue.
 *
 * @throws TypeError if it is something else
 */
export const checkCatalogue = (value: unknown): Catalogue => {
  const isEvent = (one: unknown) =>
    isObject(one) &&
    typeof one.title === 'string' &&
    Array.isArray(one.required) &&
    isObject(one.properties) &&
    isObject(one.properties.event);
  if (!isObject(value) || !Array.isArray(value.anyOf) || !value.anyOf.every(isEvent))
    throw new TypeError('expected a catalogue, as `npx clew catalogue` writes it');
  return value as unknown as Catalogue;
};
