import { isObject } from '../wire.js';
import { expressionOf } from './pattern.js';
import type { Catalogue } from './schema.js';

const isText = (value: unknown) => typeof value === 'string';

const isPattern = (value: unknown): boolean => {
  try {
    return isText(value) && !!expressionOf(value as string);
  } catch {
    return false;
  }
};

/** A reference whose name can be decoded. */
const isReference = (value: unknown): boolean =>
  isText(value) && /^#\/\$defs\/(?:[^%]|%[\da-f]{2})+$/i.test(`${value}`);
const isSchemas = (value: unknown): boolean => Array.isArray(value) && value.every(isSchema);
const isMap = (value: unknown): boolean => isObject(value) && Object.values(value).every(isSchema);

const KEYWORDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  $ref: isReference,
  type: isText,
  pattern: isPattern,
  enum: Array.isArray,
  required: Array.isArray,
  anyOf: isSchemas,
  prefixItems: isSchemas,
  properties: isMap,
  additionalProperties: (value) => isSchema(value),
  items: (value) => value === false || isSchema(value),
};

const isSchema = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(KEYWORDS).every(([name, isRight]) => !Object.hasOwn(value, name) || isRight(value[name]));

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  isText(value.title) &&
  Array.isArray(value.required) &&
  isObject(value.properties) &&
  isObject(value.properties.event) &&
  isSchema(value);

/**
 * Checks that a value is a catalogue, so that no event makes a check of it fail.
 *
 * @throws TypeError if it is something else
 */
export const checkCatalogue = (value: unknown): Catalogue => {
  const { anyOf, $defs = {} } = isObject(value) ? value : {};
  if (!Array.isArray(anyOf) || !anyOf.every(isEvent) || !isMap($defs))
    throw new TypeError('expected a catalogue, as `npx clew catalogue` writes it');
  return value as Catalogue;
};
