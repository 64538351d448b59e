import { eventNamed, fitsScalar } from './fits.js';
import { likelyName } from './likelyName.js';
import { nameOfForm, pairForms, splitForms } from './pairForms.js';
import { sampleOf } from './pattern.js';
import {
  alternativesOf,
  type Catalogue,
  canonical,
  type Definitions,
  type EventSchema,
  type Literal,
  type Schema,
} from './schema.js';
import { codeOf, phraseOf } from './words.js';

/**
 * The kind of a change:
 *
 * - `gone`: an event, a property, or a form of an object.
 * - `value-gone`: one value of a list of values.
 * - `narrowed`: values of a type that was accepted.
 * - `required`: an event without the property was accepted.
 * - `new`, `widened` and `optional`: everything that was accepted still is.
 */
export type ChangeKind = 'gone' | 'value-gone' | 'narrowed' | 'required' | 'new' | 'widened' | 'optional';

/** One difference of two catalogues. */
export interface Change {
  readonly kind: ChangeKind;
  /** The event's name or pattern. */
  readonly event: string;
  /** The names of properties that lead to the change, and `[]` for the items of a list. Empty: the event or its payload. */
  readonly path: readonly string[];
  /** The change as words. */
  readonly text: string;
  /** The value that is gone. */
  readonly value?: Literal | undefined;
}

/** Changes after which an event that was accepted is not accepted, or a filter that matched cannot match. */
export const isBreaking = ({ kind }: Pick<Change, 'kind'>): boolean =>
  kind === 'gone' || kind === 'value-gone' || kind === 'narrowed' || kind === 'required';

/** Both sides of a comparison. */
interface Sides {
  readonly before: Definitions;
  readonly after: Definitions;
  /** Pairs of types that contain themselves, and are being compared. */
  readonly open: Set<string>;
  readonly add: (kind: ChangeKind, path: readonly string[], text: string, value?: Literal) => void;
  /** Whether a form is known to accept all that an earlier one did. */
  readonly covers: (now: Schema, old: Schema) => boolean;
}

/** A form covers another one if a comparison on trial finds nothing breaking. Trials within a trial would multiply with each type around. */
const createSides = (before: Definitions, after: Definitions, add: Sides['add']): Sides => {
  const open = new Set<string>();
  const covers = (now: Schema, old: Schema): boolean => {
    const kinds: ChangeKind[] = [];
    const collect = (kind: ChangeKind) => void kinds.push(kind);
    compareSchemas(old, now, [], { before, after, open: new Set(open), add: collect, covers: () => false });
    return !kinds.some((kind) => isBreaking({ kind }));
  };
  return { before, after, open, add, covers };
};

const isList = ({ type }: Schema) => type === 'array';
const isMap = ({ type }: Schema) => type === 'object';
const isAny = ({ type, const: value }: Schema) => type === undefined && value === undefined;

/** Whether these alternatives accept all that one does. Objects and lists are compared by their parts. */
const isCovered = (one: Schema, others: readonly Schema[]): boolean =>
  others.some((other) => {
    if (isAny(other) || canonical(one) === canonical(other)) return true;
    if (isMap(one) || isList(one)) return one.type === other.type;
    if (one.const !== undefined) return fitsScalar(other, one.const);
    if (one.pattern !== undefined) return fitsScalar(other, sampleOf(one.pattern));
    return one.type === other.type && other.format === undefined && other.pattern === undefined;
  });

const compareSimple = (
  old: readonly Schema[],
  now: readonly Schema[],
  path: readonly string[],
  { before, after, add }: Sides,
): void => {
  const gone = old.filter((one) => !isCovered(one, now));
  const fresh = now.filter((one) => !isCovered(one, old));
  const isValue = ({ const: value }: Schema) => value !== undefined;
  const are = `${phraseOf({ anyOf: simplified(old) }, before)}`;
  const become = `${phraseOf({ anyOf: simplified(now) }, after)}`;
  // A list of values that only lost some of them, or has others now.
  if (gone.every(isValue) && (fresh.every(isValue) || gone.length < old.length)) {
    for (const { const: value } of gone) add('value-gone', path, `${codeOf(value)} is gone`, value);
    if (fresh.every(isValue)) for (const { const: value } of fresh) add('new', path, `${codeOf(value)} is new`);
    else add('widened', path, `was ${are}, is now ${become}`);
  } else if (gone[0]) add('narrowed', path, `was ${are}, is now ${become}`);
  else if (fresh[0]) add('widened', path, `was ${are}, is now ${become}`);
};

/** Both values of a boolean as one. */
const simplified = (all: readonly Schema[]): Schema[] => {
  const isBoolean = ({ const: value }: Schema) => typeof value === 'boolean';
  if (all.filter(isBoolean).length < 2) return [...all];
  return [...all.filter((one) => !isBoolean(one)), { type: 'boolean' }];
};

const compareProperties = (old: Schema, now: Schema, path: readonly string[], sides: Sides): void => {
  const { properties: were = {}, required: wereRequired = [], additionalProperties: wereOthers } = old;
  const { properties: are = {}, required: areRequired = [], additionalProperties: others } = now;
  const { add } = sides;
  const fresh = Object.keys(are).filter((name) => !Object.hasOwn(were, name));
  for (const [name, schema] of Object.entries(were)) {
    const at = [...path, name];
    const own = Object.hasOwn(are, name) ? are[name] : others;
    if (!own) {
      const likely = likelyName(
        name,
        schema,
        fresh.map((other) => [other, are[other] as Schema]),
      );
      add('gone', at, likely ? `is gone. Is it ${codeOf(likely)} now?` : 'is gone');
      continue;
    }
    compareSchemas(schema, own, at, sides);
    if (wereRequired.includes(name) && !areRequired.includes(name)) add('optional', at, 'may be missing now');
    if (!wereRequired.includes(name) && areRequired.includes(name)) add('required', at, 'is required now');
  }
  for (const name of fresh) {
    const schema = are[name] as Schema;
    if (wereOthers) compareSchemas(wereOthers, schema, [...path, name], sides);
    if (areRequired.includes(name)) add('required', [...path, name], 'is new and required');
    else if (!wereOthers) add('new', [...path, name], 'is new');
  }
  if (wereOthers && others) compareSchemas(wereOthers, others, [...path, '*'], sides);
  else if (wereOthers) add('gone', [...path, '*'], 'other properties are gone');
  else if (others) add('widened', [...path, '*'], 'may have other properties now');
};

/** Compares the forms of an object, or of a list. A kind that only one side has is a change of the type. */
const compareForms = (
  old: readonly Schema[],
  now: readonly Schema[],
  path: readonly string[],
  sides: Sides,
  compare: (old: Schema, now: Schema, path: readonly string[], sides: Sides) => void,
): void => {
  if (!old[0] || !now[0]) return;
  const { before, after, add } = sides;
  const were = splitForms(old, now, before, after);
  const { pairs, gone, fresh } = pairForms(were, splitForms(now, old, after, before), sides);
  for (const [one, other] of pairs) compare(one, other, path, sides);
  for (const one of gone) add('gone', path, `${nameOfForm(one, before)} is gone`);
  for (const one of fresh) add('new', path, `${nameOfForm(one, after)} is new`);
};

const compareLists = (old: Schema, now: Schema, path: readonly string[], sides: Sides): void => {
  const { prefixItems: were = [], items: wereRest, minItems: wasLeast = 0 } = old;
  const { prefixItems: are = [], items: rest, minItems: least = 0 } = now;
  for (let at = 0; at < Math.max(were.length, are.length); at++) {
    const one = were[at] ?? wereRest;
    const other = are[at] ?? rest;
    const place = [...path, `[${at}]`];
    if (one && other) compareSchemas(one, other, place, sides);
    else if (one) sides.add('gone', place, 'is gone');
    else if (other) sides.add(at < least ? 'required' : 'new', place, at < least ? 'is new and required' : 'is new');
  }
  const place = [...path, '[]'];
  if (wereRest && rest) compareSchemas(wereRest, rest, place, sides);
  else if (wereRest) sides.add('narrowed', place, 'the list has a fixed length now');
  else if (rest) sides.add('widened', place, 'the list may be longer now');
  // An item that is new and required is a change already.
  const isNew = !wereRest && were.length < Math.min(are.length, least);
  if (least > wasLeast && !isNew) sides.add('required', path, `needs at least ${least} items now`);
  if (least < wasLeast) sides.add('optional', path, `needs only ${least} items now`);
};

const compareSchemas = (old: Schema, now: Schema, path: readonly string[], sides: Sides): void => {
  if (old.$ref !== undefined || now.$ref !== undefined) {
    const pair = `${canonical(old)} ${canonical(now)}`;
    // The type contains itself: this pair is being compared already.
    if (sides.open.has(pair)) return;
    sides.open.add(pair);
  }
  const were = alternativesOf(old, sides.before);
  const are = alternativesOf(now, sides.after);
  if (were.some(isAny) || are.some(isAny)) {
    if (!were.some(isAny)) sides.add('widened', path, `was ${phraseOf(old, sides.before)}, is now anything`);
    else if (!are.some(isAny)) sides.add('narrowed', path, `was anything, is now ${phraseOf(now, sides.after)}`);
    return;
  }
  compareSimple(were, are, path, sides);
  compareForms(were.filter(isMap), are.filter(isMap), path, sides, compareProperties);
  compareForms(were.filter(isList), are.filter(isList), path, sides, compareLists);
};

const NO_PAYLOAD: Schema = { type: 'object' };

const compareEvents = (old: EventSchema, now: EventSchema, sides: Sides): void => {
  const were = old.properties.payload;
  const are = now.properties.payload;
  const was = old.required.includes('payload');
  const is = now.required.includes('payload');
  if (!were && are && !is) {
    sides.add('new', [], 'may have a payload now');
    return;
  }
  compareSchemas(were ?? NO_PAYLOAD, are ?? NO_PAYLOAD, [], sides);
  // A new property that is required requires the payload.
  if (!are || (!were && alternativesOf(are, sides.after).every(({ required }) => required?.[0] !== undefined))) return;
  if (was && !is) sides.add('optional', [], 'the payload may be missing now');
  if (!was && is) sides.add('required', [], 'the payload is required now');
};

/** The event of a template, such as `step_${number}`, that has the names of another catalogue's event. */
const patternFor = ({ anyOf }: Catalogue, { properties: { event } }: EventSchema): EventSchema | undefined => {
  const name = event.pattern === undefined ? event.const : sampleOf(event.pattern);
  const found = typeof name === 'string' ? eventNamed(anyOf, name) : undefined;
  return found?.properties.event.pattern === undefined ? undefined : found;
};

/** All differences of two catalogues, except those of words and of order. */
export const compareCatalogues = (old: Catalogue, now: Catalogue): Change[] => {
  const changes: Change[] = [];
  const adder =
    (event: string): Sides['add'] =>
    (kind, path, text, value) => {
      changes.push({ kind, event, path, text, ...(value !== undefined && { value }) });
    };
  const { $defs: before = {} } = old;
  const { $defs: after = {} } = now;
  const nameOf = ({ properties }: EventSchema) => JSON.stringify(properties.event);
  const were = new Map(old.anyOf.map((event) => [nameOf(event), event]));
  const are = new Map(now.anyOf.map((event) => [nameOf(event), event]));
  const payloadOf = ({ properties }: EventSchema) => properties.payload ?? NO_PAYLOAD;
  const fresh = [...are].filter(([name]) => !were.has(name)).map(([, event]) => event);
  for (const [name, event] of were) {
    const other = are.get(name) ?? patternFor(now, event);
    const add = adder(event.title);
    if (other) compareEvents(event, other, createSides(before, after, add));
    else {
      const likely = likelyName(
        event.title,
        payloadOf(event),
        fresh.map((one) => [one.title, payloadOf(one)]),
      );
      add('gone', [], likely ? `is gone. Is it ${codeOf(likely)} now?` : 'is gone');
    }
  }
  for (const event of fresh) {
    const pattern = patternFor(old, event);
    if (pattern) compareEvents(pattern, event, createSides(before, after, adder(event.title)));
    adder(event.title)('new', [], 'is new');
  }
  // Forms that were one form may have the same change.
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()];
};
