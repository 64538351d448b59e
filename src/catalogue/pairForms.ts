import { alternativesOf, canonical, type Definitions, resolve, type Schema } from './schema.js';
import { codeOf, phraseOf } from './words.js';

/** The forms of an object or a list that two catalogues have, and those that only one of them has. */
export interface Paired {
  readonly pairs: readonly (readonly [Schema, Schema])[];
  readonly gone: readonly Schema[];
  readonly fresh: readonly Schema[];
}

/** The properties of an object, or the items with a place of their own. */
const partsOf = ({ type, properties = {}, prefixItems = [] }: Schema): Readonly<Record<string, Schema>> =>
  type === 'array' ? Object.fromEntries(prefixItems.entries()) : properties;

const withPart = (form: Schema, name: string, part: Schema): Schema => {
  const parts = { ...partsOf(form), [name]: part };
  return form.type === 'array' ? { ...form, prefixItems: Object.values(parts) } : { ...form, properties: parts };
};

const fixedValues = (form: Schema, defs: Definitions): Map<string, unknown> =>
  new Map(
    Object.entries(partsOf(form))
      .map(([name, own]) => [name, resolve(own, defs).const] as const)
      .filter(([, value]) => value !== undefined),
  );

/** Names a form by its fixed values, else by its properties or items. */
export const nameOfForm = (form: Schema, defs: Definitions): string => {
  const isList = form.type === 'array';
  const fixed = [...fixedValues(form, defs)].map(
    ([name, value]) => `${codeOf(isList ? `[${name}]` : name)} ${codeOf(value)}`,
  );
  const names = Object.keys(form.properties ?? {}).map(codeOf);
  if (fixed[0]) return `the ${isList ? 'list' : 'form'} with ${fixed.join(' and ')}`;
  return isList ? `the ${phraseOf(form, defs)}` : `the form with ${names.join(', ') || 'no properties'}`;
};

/** How likely two forms are the same, or 0 for two kinds such as `card` and `bank`. */
const likeness = (one: Schema, other: Schema, before: Definitions, after: Definitions): number => {
  if (canonical(one) === canonical(other)) return 1000;
  const [ours, theirs] = [fixedValues(one, before), fixedValues(other, after)];
  const shared = [...ours].filter(([name]) => theirs.has(name));
  if (shared.some(([name, value]) => theirs.get(name) !== value)) return 0;
  const parts = partsOf(other);
  const common = Object.keys(partsOf(one)).filter((name) => Object.hasOwn(parts, name)).length;
  return 1 + shared.length * 100 + common;
};

/** One form for each value of the part that sets forms apart, if other forms have one of its values only. */
const splitForm = (form: Schema, others: readonly Schema[], own: Definitions, theirs: Definitions): Schema[] => {
  const fixed = others.map((other) => fixedValues(other, theirs));
  for (const [name, schema] of Object.entries(partsOf(form))) {
    const values = alternativesOf(schema, own).map(({ const: value }) => value);
    if (values.length < 2 || values.includes(undefined)) continue;
    const isKind = fixed.some((all) => all.has(name) && values.includes(all.get(name) as string));
    if (isKind) return values.map((value) => withPart(form, name, { const: value }));
  }
  return [form];
};

/** `{ kind: 'a' | 'b' }` as `{ kind: 'a' } | { kind: 'b' }`, where the other side has these. */
export const splitForms = (
  forms: readonly Schema[],
  others: readonly Schema[],
  own: Definitions,
  theirs: Definitions,
): Schema[] =>
  forms.length + others.length > 2 ? forms.flatMap((form) => splitForm(form, others, own, theirs)) : [...forms];

/** The sides of a comparison, as far as pairs depend on them. */
interface Catalogues {
  readonly before: Definitions;
  readonly after: Definitions;
  readonly covers: (now: Schema, old: Schema) => boolean;
}

/**
 * Pairs the forms of an object or a list, the most alike first. A single form on both sides is the same one. A form that a new one covers
 * is not gone.
 */
export const pairForms = (
  old: readonly Schema[],
  now: readonly Schema[],
  { before, after, covers }: Catalogues,
): Paired => {
  const [one, other] = [old[0], now[0]];
  if (old.length === 1 && now.length === 1 && one && other) return { pairs: [[one, other]], gone: [], fresh: [] };
  const candidates = old.map((a) => {
    const likely = now
      .map((b) => ({ a, b, rank: likeness(a, b, before, after) }))
      .filter(({ rank }) => rank > 0)
      .sort((x, y) => y.rank - x.rank);
    const covering = likely.filter(({ b, rank }) => rank >= 1000 || covers(b, a));
    return { a, isCovered: covering[0] !== undefined, likely: covering[0] ? covering : likely };
  });
  const ranked = candidates.flatMap(({ likely }) => likely).sort((x, y) => y.rank - x.rank);
  const taken = new Set<Schema>();
  const pairs: (readonly [Schema, Schema])[] = [];
  for (const { a, b } of ranked) {
    if (taken.has(a) || taken.has(b)) continue;
    taken.add(a).add(b);
    pairs.push([a, b]);
  }
  const gone = candidates.filter(({ a, isCovered }) => !isCovered && !taken.has(a)).map(({ a }) => a);
  return { pairs, gone, fresh: now.filter((b) => !taken.has(b)) };
};
