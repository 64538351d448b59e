import * as v from 'valibot';
import { MAX_KEY_LENGTH } from '../../src/service/eventFault.ts';
import { makeStorable, storableText } from './storable.ts';

/** The building blocks of the bodies. Every message completes the sentence "expected …, received …". */

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NON_EMPTY = 'a non-empty string';
export const text = v.pipe(v.string(NON_EMPTY), v.minLength(1, NON_EMPTY), v.transform(storableText));

/** Text for people to read. */
export const visibleText = v.pipe(text, v.regex(/\S/, 'a string that is more than whitespace'));

const KEY = `a non-empty string of at most ${MAX_KEY_LENGTH} characters`;
/** A customer's primary key. */
export const key = v.pipe(
  v.string(KEY),
  v.minLength(1, KEY),
  v.maxLength(MAX_KEY_LENGTH, KEY),
  v.transform(storableText),
);

const hex = (digits: number) => `[0-9a-f]{${digits}}`;
const UUID = `^${[8, 4, 4, 4, 12].map(hex).join('-')}$`;
export const lowerCaseUuid = v.pipe(v.string('a lower-case UUID'), v.regex(new RegExp(UUID), 'a lower-case UUID'));
export const uuid = v.pipe(
  v.string('a UUID'),
  v.regex(new RegExp(UUID, 'i'), 'a UUID'),
  v.transform((value) => value.toLowerCase()),
);

const ISO = 'a date and time in ISO 8601 such as "2026-01-31T12:00:00.000Z"';
const ISO_SHAPE = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:\d\d)$/;
/** Accepts any time zone and precision. Returns UTC with milliseconds. */
export const timestamp = v.pipe(
  v.string(ISO),
  v.rawTransform<string, string>(({ dataset: { value }, addIssue, NEVER }) => {
    const day = ISO_SHAPE.exec(value)?.[1];
    const date = new Date(value.replace(',', '.'));
    // `Date` reads 30 February as 1 March, and Postgres has no year 0.
    if (!day || Number.isNaN(+date) || !isDay(day) || !/^(?!0000)\d{4}-/.test(date.toISOString())) {
      addIssue({ message: ISO });
      return NEVER;
    }
    return date.toISOString();
  }),
);
const isDay = (day: string): boolean => {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(+date) && date.toISOString().startsWith(day);
};

/** Any value of JSON, in a form that the database can store. */
const storable = v.pipe(
  v.unknown(),
  v.rawTransform<unknown, unknown>(({ dataset, addIssue, NEVER }) => {
    try {
      return makeStorable(dataset.value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      addIssue({ message: error.message });
      return NEVER;
    }
  }),
);
export const anything = v.optional(storable);
/** `v.record` would not do: it drops keys such as `constructor`. */
export const plainObject = v.pipe(storable, v.custom<Record<string, unknown>>(isObject, 'an object'));

/** Like `v.object`, but an array is none, and a missing entry is reported with the message of the entry itself. */
export const object = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(
    v.custom<Record<string, unknown>>(isObject, 'an object'),
    v.object(entries, (issue) => {
      const missing = entries[String(issue.path?.[0].key)];
      return (missing && v.safeParse(missing, undefined).issues?.[0].message) ?? 'an object';
    }),
  );
