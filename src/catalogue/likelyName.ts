import { canonical, type Schema } from './schema.js';

/** The number of letters to insert, delete or replace. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries())
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row[b.length] ?? 0;
};

/** The share of letters that differ, without case and separators: `Sign-up` is `sign_up`. */
const difference = (a: string, b: string): number => {
  const [one, other] = [a, b].map((name) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')) as [string, string];
  return distance(one, other) / Math.max(one.length, other.length, 1);
};

/** Whether a schema is rarely the same by chance. */
const isTelling = ({ enum: values, anyOf, properties, items }: Schema): boolean =>
  !!values || !!anyOf || !!items || Object.keys(properties ?? {}).length > 0;

/** The new name of something that is gone, if one of the new names accepts the same and is likely meant. */
export const likelyName = (
  name: string,
  schema: Schema,
  fresh: readonly (readonly [name: string, schema: Schema])[],
): string | undefined => {
  const same = fresh.filter(([, other]) => canonical(other) === canonical(schema)).map(([other]) => other);
  const [nearest] = [...same].sort((a, b) => difference(name, a) - difference(name, b));
  if (nearest === undefined) return undefined;
  return difference(name, nearest) <= 0.5 || (same.length === 1 && isTelling(schema)) ? nearest : undefined;
};
