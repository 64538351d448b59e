import type { Definitions, Schema } from './schema.js';

const KINDS = {
  string: 'text',
  number: 'number',
  boolean: '`true` or `false`',
  null: '`null`',
  object: 'object',
  array: 'list',
} as const;

/** A value as code. */
export const codeOf = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

const join = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** Most values that a sentence lists. */
const MOST = 12;

const listed = (values: readonly unknown[]): string[] =>
  values.length > MOST
    ? [...values.slice(0, MOST).map(codeOf), `one of ${values.length - MOST} others`]
    : values.map(codeOf);

const wordsOf = (schema: Schema, defs: Definitions): string[] => {
  const { $ref, anyOf, enum: values, const: value, type, format, pattern, items } = schema;
  if ($ref !== undefined) return ['object'];
  if (anyOf) return anyOf.flatMap((one) => wordsOf(one, defs));
  if (values) return listed(values);
  if (value !== undefined) return [codeOf(value)];
  if (format === 'date-time') return ['date and time (ISO 8601)'];
  if (pattern !== undefined) return [`text like \`${pattern}\``];
  if (type === 'array' && items) return [`list of ${phraseOf(items, defs)}`];
  return [type ? KINDS[type] : 'anything'];
};

/** The values that a schema accepts, as a phrase. */
export const phraseOf = (schema: Schema, defs: Definitions): string => join([...new Set(wordsOf(schema, defs))]);
