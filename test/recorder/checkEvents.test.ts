// @module-tag promise
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { checkEvents, type StandardSchema } from '../../src/recorder/checkEvents.ts';

const signup = v.object({ plan: v.picklist(['free', 'pro']), seats: v.optional(v.array(v.object({ n: v.number() }))) });

/** The messages about a payload, by a schema of its event. */
const told = (schema: unknown, payload: unknown): string[] => {
  const messages: string[] = [];
  const check = checkEvents({ signup: schema as StandardSchema }, (message) => messages.push(message));
  const tracked = { event: 'signup', payload };
  expect(check(tracked)).toBe(tracked);
  return messages;
};

it('reports nothing for a payload that matches', () => {
  expect(told(signup, { plan: 'pro', seats: [{ n: 1 }] })).toEqual([]);
});

it('reports the event, the field and the fault, and returns the event unchanged', () => {
  expect(told(signup, { plan: 'gold', seats: [{ n: 'two' }] })).toEqual([
    expect.stringMatching(/^clew: signup: payload\.plan: .*"gold"/),
    expect.stringMatching(/^clew: signup: payload\.seats\.0\.n: .*"two"/),
  ]);
  expect(told(signup, undefined)).toEqual([expect.stringMatching(/^clew: signup: payload: /)]);
});

describe('reports a schema that cannot check:', () => {
  const schemaOf = (validate: () => unknown) => ({ '~standard': { version: 1, vendor: 'test', validate } });
  it.each([
    ['an asynchronous one', schemaOf(async () => ({ value: 1 })), 'asynchronous'],
    ['one that rejects', schemaOf(() => Promise.reject(new Error('later'))), 'asynchronous'],
    [
      'one that throws',
      schemaOf(() => {
        throw new Error('broken');
      }),
      'Error: broken',
    ],
    ['none at all', {}, 'TypeError'],
  ])('%s', (_, schema, expected) => {
    expect(told(schema, {})).toEqual([expect.stringContaining(expected)]);
  });
});

it('ignores events without a schema, whatever their name is', () => {
  const report = vi.fn();
  const check = checkEvents({ signup }, report);
  for (const event of ['other', 'toString', '__proto__']) check({ event, payload: 7 });
  expect(report).not.toHaveBeenCalled();
});

it('logs to the console by default', () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  checkEvents({ signup })({ event: 'signup', payload: {} });
  expect(error).toHaveBeenCalledWith(expect.stringMatching(/^clew: signup: /));
  error.mockRestore();
});
