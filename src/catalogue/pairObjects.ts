import { alternativesOf, canonical, type Definitions, resolve, type Schema } from './schema.js';

/** The forms of an object that two catalogues have, and those that only one of them has. */
export interface Paired {
  readonly pairs: readonly (readonly [Schema, Schema])[];
  readonly gone: readonly Schema[];
  readonly fresh: readonly Schema[];
}

const fixedValues = ({ properties = {} }: Schema, defs: Definitions): Map<string, unknown> =>
  new Map(
    Object.entries(properties)
      .map(([name, own]) => [name, resolve(own, defs).const] as const)
      .filter(([, value]) => value !== undefined),
  );

/** How likely two forms are the same, or 0 for two kinds such as `card` and `bank`. */
const likeness = (one: Schema, other: Schema, before: Definitions, after: Definitions): number => {
  if (canonical(one) === canonical(other)) return 1000;
  const [ours, theirs] = [fixedValues(one, before), fixedValues(other, after)];
  const shared = [...ours].filter(([name]) => theirs.has(name));
  if (shared.some(([name, value]) => theirs.get(name) !== value)) return 0;
  const names = Object.keys(one.properties ?? {});
  const common = names.filter((name) => Object.hasOwn(other.properties ?? {}, name)).length;
  return 1 + shared.length * 100 + common;
};

/** One form for each value of the property that sets forms apart, if other forms have one of its values only. */
const splitForm = (form: Schema, others: readonly Schema[], own: Definitions, theirs: Definitions): Schema[] => {
  const { properties = {} } = form;
  const fixed = others.map((other) => fixedValues(other, theirs));
  for (const [name, schema] of Object.entries(properties)) {
    const values = alternativesOf(schema, own).map(({ const: value }) => value);
    if (values.length < 2 || values.includes(undefined)) continue;
    const isKind = fixed.some((all) => all.has(name) && values.includes(all.get(name) as string));
    if (isKind) return values.map((value) => ({ ...form, properties: { ...properties, [name]: { const: value } } }));
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

/** Pairs the forms of an object, the most alike first. A single form on both sides is the same one. */
export const pairObjects = (
  old: readonly Schema[],
  now: readonly Schema[],
  before: Definitions,
  after: Definitions,
): Paired => {
  const [one, other] = [old[0], now[0]];
  if (old.length === 1 && now.length === 1 && one && other) return { pairs: [[one, other]], gone: [], fresh: [] };
  const ranked = old
    .flatMap((a) => now.map((b) => ({ a, b, rank: likeness(a, b, before, after) })))
    .filter(({ rank }) => rank > 0)
    .sort((x, y) => y.rank - x.rank);
  const taken = new Set<Schema>();
  const pairs: (readonly [Schema, Schema])[] = [];
  for (const { a, b } of ranked) {
    if (taken.has(a) || taken.has(b)) continue;
    taken.add(a).add(b);
    pairs.push([a, b]);
  }
  return { pairs, gone: old.filter((a) => !taken.has(a)), fresh: now.filter((b) => !taken.has(b)) };
};
