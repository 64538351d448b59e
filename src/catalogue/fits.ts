import { isObject } from '../wire.js';
import { matches } from './pattern.js';
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

const DATE = /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

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

const objectFault = (schema: Schema, value: Record<string, unknown>, check: Check): Fault | undefined => {
  const { properties = {}, required = [], additionalProperties } = schema;
  for (const name of required)
    if (!Object.hasOwn(value, name))
      return { path: `.${name}`, text: `expected ${expected(parts(properties[name], check.defs))}, got nothing` };
  for (const [name, item] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const fault = own && faultAt(own, item, check);
    if (fault) return { path: `.${name.slice(0, 80)}${fault.path}`, text: fault.text };
  }
  return undefined;
};

const listFault = (schema: Schema, value: readonly unknown[], check: Check): Fault | undefined => {
  const { prefixItems = [], items, minItems = 0 } = schema;
  if (value.length < minItems) return { path: '', text: `expected at least ${minItems} items, got ${value.length}` };
  if (items === false && value.length > prefixItems.length)
    return { path: '', text: `expected at most ${prefixItems.length} items, got ${value.length}` };
  for (const [at, item] of value.entries()) {
    const own = prefixItems[at] ?? items;
    const fault = own && faultAt(own, item, check);
    if (fault) return { path: `[${at}]${fault.path}`, text: fault.text };
  }
  return undefined;
};

interface Fault {
  readonly path: string;
  readonly text: string;
}

/** The check of one payload. */
interface Check {
  readonly defs: Definitions;
  /** The verdicts so far. Types that contain themselves in several forms would else be checked once for each path to them. */
  readonly verdicts: Map<Schema, Map<object, Fault | undefined>>;
  /** The number of objects and lists around the value. */
  readonly depth: number;
}

/** Deeper values are accepted: the stack would not suffice for all that a request can hold. */
const MAX_DEPTH = 200;

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

/** The fault of an object or a list. */
const partsFault = (schema: Schema, value: object, check: Check): Fault | undefined => {
  const { defs } = check;
  const all = parts(schema, defs);
  const same = all.filter(({ type }) => type === (Array.isArray(value) ? 'array' : 'object'));
  if (!same[0]) return misfit(all, value);
  if (isObject(value))
    return partFault(
      same,
      (one) => objectFault(one, value, check),
      (one) => isMeant(one, value, defs),
    );
  return partFault(
    same,
    (one) => listFault(one, value as unknown[], check),
    () => false,
  );
};

const misfit = (alternatives: readonly Schema[], value: unknown): Fault => ({
  path: '',
  text: `expected ${expected(alternatives)}, got ${kindOf(value)}`,
});

const faultAt = (schema: Schema, value: unknown, { defs, verdicts, depth }: Check): Fault | undefined => {
  const all = parts(schema, defs);
  // A type that is only itself is anything, too.
  if (!all[0] || all.some(({ type, const: only }) => type === undefined && only === undefined)) return undefined;
  if (typeof value !== 'object' || value === null)
    return all.some((one) => fitsScalar(one, value as Literal)) ? undefined : misfit(all, value);
  if (depth > MAX_DEPTH) return undefined;
  const known = verdicts.get(schema) ?? new Map<object, Fault | undefined>();
  verdicts.set(schema, known);
  if (!known.has(value)) known.set(value, partsFault(schema, value, { defs, verdicts, depth: depth + 1 }));
  return known.get(value);
};

/** Why a value of JSON does not fit, with its place and without the value, which may be personal. */
export const faultOf = (schema: Schema, value: unknown, defs: Definitions, place: string): string | undefined => {
  const fault = faultAt(schema, value, { defs, verdicts: new Map(), depth: 0 });
  return fault && `${place}${fault.path}: ${fault.text}`;
};

/** `context`, plugins and the relay add properties of any type to a payload, also to one of type `Record<string, number>`. */
const withoutOthers = ({ additionalProperties: _, ...schema }: Schema): Schema => schema;

const withoutRequired = ({ required: _, ...schema }: Schema): Schema => schema;

/**
 * The forms for a payload that `context` alone can have made, because an event without a payload gets one from it. Undefined for a payload
 * with a property that a form requires.
 */
const formsOfContext = (forms: readonly Schema[], payload: unknown): Schema[] | undefined => {
  if (!isObject(payload)) return undefined;
  const hasOwn = forms.some(({ required = [] }) => required.some((name) => Object.hasOwn(payload, name)));
  return hasOwn ? undefined : forms.filter(({ type }) => type === 'object').map(withoutRequired);
};

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
  const forms = parts(own, defs).map(withoutOthers);
  const ofContext = isOptional ? formsOfContext(forms, payload) : undefined;
  return faultOf({ anyOf: ofContext ?? forms }, payload, defs, 'payload');
};

/** The schema of an event's name. A name counts before a pattern. */
export const eventNamed = (events: readonly EventSchema[], name: string): EventSchema | undefined =>
  events.find(({ properties: { event } }) => event.const === name) ??
  events.find(({ properties: { event } }) => event.const === undefined && fitsScalar(event, name));
