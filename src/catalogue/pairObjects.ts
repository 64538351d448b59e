import { canonical, type Definitions, resolve, type Schema } from './schema.js';

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
