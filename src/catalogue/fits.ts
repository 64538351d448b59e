import { isObject } from '../wire.js';
import { alternativesOf, type Definitions, type EventSchema, type Literal, resolve, type Schema } from './schema.js';

const NAMES = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
  object: 'an object',
  array: 'a list',
} as const;

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : NAMES[typeof value as 'string'];
};

/** Most values that a reason lists. */
const MOST = 10;

const expected = (alternatives: readonly Schema[]): string => {
  const words = alternatives.map(({ const: value, type, format, pattern }) => {
    if (value !== undefined) return JSON.stringify(value);
    if (format === 'date-time') return 'a date and time (ISO 8601)';
    return pattern === undefined ? (type ? NAMES[type] : 'anything') : `a string like ${pattern}`;
  });
  const unique = [...new Set(words)];
  return [...unique.slice(0, MOST), ...(unique.length > MOST ? ['another value of the catalogue'] : [])].join(' or ');
};

/** Patterns come from a catalogue that the site's own build has made. */
const patterns = new Map<string, RegExp>();
const matches = (pattern: string, text: string): boolean => {
  const known = patterns.get(pattern) ?? new RegExp(pattern, 'u');
  patterns.set(pattern, known);
  return known.test(text);
};

const DATE = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const isText = ({ format, pattern }: Schema, text: string): boolean =>
  (format !== 'date-time' || DATE.test(text)) && (pattern === undefined || matches(pattern, text));

/** Whether a value without parts fits an alternative. */
export const fitsScalar = (schema: Schema, value: Literal): boolean => {
  if (schema.const !== undefined) return schema.const === value;
  if (schema.type === undefined) return true;
  if (value === null) return schema.type === 'null';
  if (schema.type !== typeof value) return false;
  return typeof value !== 'string' || isText(schema, value);
};

const objectFault = (schema: Schema, value: Record<string, unknown>, defs: Definitions): Fault | undefined => {
  const { properties = {}, required = [], additionalProperties } = schema;
  for (const name of required)
    if (!Object.hasOwn(value, name))
      return { path: `.${name}`, text: `expected ${expected(parts(properties[name], defs))}, got nothing` };
  for (const [name, item] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const fault = own && faultAt(own, item, defs);
    if (fault) return { path: `.${name.slice(0, 80)}${fault.path}`, text: fault.text };
  }
  return undefined;
};

const listFault = (schema: Schema, value: readonly unknown[], defs: Definitions): Fault | undefined => {
  const { prefixItems = [], items, minItems = 0 } = schema;
  if (value.length < minItems) return { path: '', text: `expected at least ${minItems} items, got ${value.length}` };
  if (items === false && value.length > prefixItems.length)
    return { path: '', text: `expected at most ${prefixItems.length} items, got ${value.length}` };
  for (const [at, item] of value.entries()) {
    const own = prefixItems[at] ?? items;
    const fault = own && faultAt(own, item, defs);
    if (fault) return { path: `[${at}]${fault.path}`, text: fault.text };
  }
  return undefined;
};

interface Fault {
  readonly path: string;
  readonly text: string;
}

const parts = (schema: Schema | undefined, defs: Definitions): Schema[] => alternativesOf(schema ?? {}, defs);

/** Whether an object has the values that set an alternative apart, such as `kind: 'card'`. */
const isMeant = ({ properties = {} }: Schema, value: Record<string, unknown>, defs: Definitions): boolean =>
  Object.entries(properties).every(([name, own]) => {
    const { const: only } = resolve(own, defs);
    return only === undefined || value[name] === only;
  });

/** The fault of a value that has parts, by the alternative that is most likely meant. */
const partFault = (
  alternatives: readonly Schema[],
  faultOfOne: (schema: Schema) => Fault | undefined,
  isLikely: (schema: Schema) => boolean,
): Fault | undefined => {
  const faults = alternatives.map((schema) => ({ schema, fault: faultOfOne(schema) }));
  if (faults.some(({ fault }) => !fault)) return undefined;
  return (faults.find(({ schema }) => isLikely(schema)) ?? faults[0])?.fault;
};

const faultAt = (schema: Schema, value: unknown, defs: Definitions): Fault | undefined => {
  const all = parts(schema, defs);
  if (all.some(({ type, const: only }) => type === undefined && only === undefined)) return undefined;
  const misfit = { path: '', text: `expected ${expected(all)}, got ${kindOf(value)}` };
  if (isObject(value)) {
    const objects = all.filter(({ type }) => type === 'object');
    if (!objects[0]) return misfit;
    return partFault(
      objects,
      (one) => objectFault(one, value, defs),
      (one) => isMeant(one, value, defs),
    );
  }
  if (Array.isArray(value)) {
    const lists = all.filter(({ type }) => type === 'array');
    return lists[0]
      ? partFault(
          lists,
          (one) => listFault(one, value, defs),
          () => false,
        )
      : misfit;
  }
  return all.some((one) => fitsScalar(one, value as Literal)) ? undefined : misfit;
};

/** Why a value of JSON does not fit, with its place and without the value, which may be personal. */
export const faultOf = (schema: Schema, value: unknown, defs: Definitions, place: string): string | undefined => {
  const fault = faultAt(schema, value, defs);
  return fault && `${place}${fault.path}: ${fault.text}`;
};

/** Whether `context` alone can have made this payload, because an event without a payload gets one from it. */
const isOfContext = (schema: Schema, payload: unknown, defs: Definitions): boolean =>
  isObject(payload) &&
  !parts(schema, defs).some(({ properties = {} }) =>
    Object.keys(properties).some((name) => Object.hasOwn(payload, name)),
  );

/** Why the payload of an event does not fit, or `undefined`. */
export const payloadFault = (
  { properties, required }: EventSchema,
  payload: unknown,
  defs: Definitions,
): string | undefined => {
  const own = properties.payload;
  if (!own) return undefined;
  const isOptional = !required.includes('payload');
  if (payload === undefined)
    return isOptional ? undefined : `payload: expected ${expected(parts(own, defs))}, got nothing`;
  if (isOptional && isOfContext(own, payload, defs)) return undefined;
  return faultOf(own, payload, defs, 'payload');
};

/** The schema of an event's name. A name counts before a pattern. */
export const eventNamed = (events: readonly EventSchema[], name: string): EventSchema | undefined =>
  events.find(({ properties: { event } }) => event.const === name) ??
  events.find(({ properties: { event } }) => event.const === undefined && fitsScalar(event, name));
