import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/relay.ts';
import { catalogueOf } from '../catalogue/readSource.ts';

const event = (name: string, payload?: unknown) => ({
  event: name,
  source: 'custom' as const,
  correlationKey: '_id' as const,
  correlationValue: '0f8fad5b-d9cb-469f-a165-70867728950e',
  payload,
});

const accept = catalogue(
  catalogueOf(`interface Events {
  searched: { where: Where };
  sent: { json: Json };
  // biome-ignore lint: a type
  opened: { path: \`\${string}/\${string}/\${string}/index\`; id: \`\${string}-\${string}-\${string}\`; at: \`\${string}\${number}px\` };
  sized: { width: \`\${number}px\` | \`\${number} of \${string}\` };
  looped: { loop: Loop };
  rated: Record<string, number>;
  dated: { at: Date };
}
type Where = { op: 'and'; args: Where[] } | { op: 'or'; args: Where[] } | { op: 'is'; value: string };
type Json = string | null | Json[] | { [name: string]: Json };
declare class Loop { toJSON(): Loop | string }`),
);

describe('a relay with a catalogue', () => {
  it('checks a type that contains itself in several forms once for each value', () => {
    let where: object = { op: 'none' };
    for (let depth = 0; depth < 40; depth++) where = { args: [where], op: 'or' };
    expect(accept(event('searched', { where }))).toMatch(/args: expected a list, got nothing$/);
  }, 2000);

  it('accepts what is nested as deeply as a request can hold', () => {
    const json = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`);
    expect(accept(event('sent', { json }))).toBe(true);
  });

  it.each([
    ['/a/b/index', 'a-b-c', '12px', true],
    ['//a/b/c/index', '--', '1px', true],
    ['a/index', 'a-b-c', '1px', false],
    ['a/b/c/index', 'a-b', '1px', false],
    ['a/b/c/index', 'a-b-c', 'px', false],
    ['a/b/c/index', 'a-b-c', 'left 5.px', true],
    ['a/b/c/index', 'a-b-c', 'left .px', false],
    ['a/b/c/indexes', 'a-b-c', '1px', false],
    ['/'.repeat(60_000), 'a-b-c', '1px', false],
    ['a/b/c/index', '-'.repeat(60_000), '1px', true],
    ['a/b/c/index', 'a-b-c', '1'.repeat(60_000), false],
  ])(
    'checks texts with several parts in one pass',
    (path, id, at, fits) => {
      expect(accept(event('opened', { path, id, at })) === true).toBe(fits);
    },
    2000,
  );

  it.each(['5', '-5', '+5', '.5', '5.', '-.5', '1.5e-7', '1E5'])('accepts %s as a number within a text', (number) => {
    for (const width of [`${number}px`, `${number} of any`]) expect(accept(event('sized', { width }))).toBe(true);
  });

  it.each(['', '.', '+', 'e5', '5e', '1.2.3', '--5', '1'.repeat(60_000)])(
    'rejects a text with %s that is no number',
    (no) => {
      expect(accept(event('sized', { width: `${no}p` }))).toMatch('expected a string like');
    },
    2000,
  );

  it('accepts a type whose `toJSON` returns itself or something else', () => {
    expect(accept(event('looped', { loop: 'a' }))).toBe(true);
    expect(accept(event('looped', { loop: 1 }))).toBe('payload.loop: expected a string, got a number');
  });

  it('accepts what `context` adds to a payload with any names', () => {
    expect(accept(event('rated', { wool: 5, locale: 'de' }))).toBe(true);
  });

  it('accepts a date of any year', () => {
    for (const time of [8.64e15, -8.64e15, 0])
      expect(accept(event('dated', { at: new Date(time).toJSON() }))).toBe(true);
  });

  it.each([
    { pattern: '(' },
    { anyOf: 5 },
    { $ref: 5 },
    { $ref: '#/$defs/%' },
    { properties: { a: null } },
    { items: 'a' },
  ])('does not take %j for a schema', (payload) => {
    const wrong = { anyOf: [{ title: 'x', required: [], properties: { event: { const: 'x' }, payload } }] };
    expect(() => catalogue(wrong)).toThrow(TypeError);
    expect(() => catalogue({ anyOf: [], $defs: { a: payload } })).toThrow(TypeError);
  });

  it.each([{ $ref: '#/$defs/a' }, { anyOf: [{ $ref: '#/$defs/a' }] }])('survives the definition %j of itself', (a) => {
    const loop = { title: 'x', required: [], properties: { event: { const: 'x' }, payload: { $ref: '#/$defs/a' } } };
    expect(catalogue({ anyOf: [loop], $defs: { a } })(event('x', { a: 1 }))).toBe(true);
  });
});
