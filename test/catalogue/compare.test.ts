// @module-tag promise

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareCatalogues, isBreaking } from '../../src/catalogue/compare.ts';
import { payloadFault } from '../../src/catalogue/fits.ts';
import {
  type EventMap,
  type Expected,
  eventMaps,
  type Kind,
  type Property,
  type Style,
  seededChanges,
  styles,
  write,
} from './eventMaps.ts';
import { catalogueOf } from './readSource.ts';

const PLAIN: Style = {
  form: 'interface',
  isReversed: false,
  hasComments: false,
  isDense: false,
  isSplit: false,
  usesUndefined: false,
};

const property = (name: string, kind: Kind, isOptional = false): Property => ({ name, kind, isOptional });

const EVERY_KIND: EventMap = [
  { name: 'left', payload: undefined, isOptional: false },
  { name: 'searched', payload: [property('term', { is: 'text' })], isOptional: true },
  {
    name: 'order paid',
    payload: [
      property('at', { is: 'date' }, true),
      property('plan', { is: 'values', values: ['free', 'pro', 'team'] }),
      property('items', {
        is: 'list',
        of: { is: 'object', properties: [property('sku', { is: 'text' }), property('gift', { is: 'boolean' }, true)] },
      }),
      property('total', { is: 'object', properties: [property('amount', { is: 'number' })] }, true),
    ],
    isOptional: false,
  },
];

const changesBetween = (old: string, now: string): Expected[] =>
  compareCatalogues(catalogueOf(old), catalogueOf(now)).map(({ kind, event, path, value }) => {
    const place = path.join('.');
    return value === undefined ? [kind, event, place] : [kind, event, place, `${value}`];
  });

const sorted = (changes: readonly Expected[]) => changes.map((change) => change.join(' / ')).toSorted();

/** Each run compares a map with one seeded change of it, in another style of writing. */
const RUNS = process.env.TEST_ALL ? 3000 : 60;

describe('the differences of two event maps', () => {
  it('are every seeded rename, removal and narrowed type, and nothing else', () => {
    fc.assert(
      fc.property(eventMaps, styles, styles, fc.nat(), (map, before, after, pick) => {
        const all = seededChanges(map);
        const { what, map: changed, expected } = all[pick % all.length] as (typeof all)[number];
        expect(sorted(changesBetween(write(map, before), write(changed, after))), what).toEqual(sorted(expected));
      }),
      { numRuns: RUNS },
    );
  }, 300_000);

  it('are none after comments, aliases, order and formatting have changed', () => {
    fc.assert(
      fc.property(eventMaps, styles, styles, (map, before, after) => {
        expect(changesBetween(write(map, before), write(map, after))).toEqual([]);
      }),
      { numRuns: RUNS / 4 },
    );
  }, 300_000);

  it('are all seeded changes of a map with every kind of type', () => {
    const all = seededChanges(EVERY_KIND);
    expect(new Set(all.flatMap(({ expected }) => expected.map(([kind]) => kind)))).toEqual(
      new Set(['gone', 'value-gone', 'narrowed', 'required', 'new', 'widened', 'optional']),
    );
    for (const { what, map, expected } of all)
      expect(sorted(changesBetween(write(EVERY_KIND, PLAIN), write(map, PLAIN))), what).toEqual(sorted(expected));
  });
});

/** The differences as their kinds, paths and words. */
const wordsOf = (old: string, now: string) =>
  compareCatalogues(catalogueOf(old), catalogueOf(now)).map(
    ({ kind, path, text }) => `${kind} ${path.join('.')}: ${text}`,
  );
const payloads = (old: string, now: string) =>
  wordsOf(`interface Events { paid: ${old} }`, `interface Events { paid: ${now} }`);

describe('the difference of', () => {
  const CARD = "{ kind: 'card'; last4: string }";
  it.each([
    [
      'a union of forms that loses one',
      `${CARD} | { kind: 'bank'; iban: string }`,
      CARD,
      ['gone : the form with `kind` `bank` is gone'],
    ],
    [
      'a union of forms that has another',
      CARD,
      `{ kind: 'bank'; iban: string } | ${CARD}`,
      ['new : the form with `kind` `bank` is new'],
    ],
    [
      'a form in a union',
      `${CARD} | { kind: 'bank' }`,
      "{ kind: 'bank' } | { kind: 'card'; last4: number }",
      ['narrowed last4: was text, is now number'],
    ],
    ['a boolean that is always true now', '{ ok: boolean }', '{ ok: true }', ['value-gone ok: `false` is gone']],
    ['a boolean for a text', '{ ok: string }', '{ ok: boolean }', ['narrowed ok: was text, is now `true` or `false`']],
    [
      'a text that may be null now',
      '{ a: string }',
      '{ a: string | null }',
      ['widened a: was text, is now `null` or text'],
    ],
    [
      'an index',
      '{ a: Record<string, string> }',
      '{ a: Record<string, number> }',
      ['narrowed a.*: was text, is now number'],
    ],
    [
      'an index for properties',
      '{ a: { b: string } }',
      '{ a: { [name: string]: string } }',
      ['optional a.b: may be missing now', 'widened a.*: may have other properties now'],
    ],
    [
      'a list that is longer now',
      '{ a: [string] }',
      '{ a: [string, number] }',
      ['required a.[1]: is new and required'],
    ],
    [
      'a list that needs an item now',
      '{ a: string[] }',
      '{ a: [string, ...string[]] }',
      ['required a: needs at least 1 items now'],
    ],
    [
      'a list that needs one more item now',
      '{ a: [string, ...string[]] }',
      '{ a: [string, string, ...string[]] }',
      ['required a: needs at least 2 items now'],
    ],
    [
      'an empty list that needs an item now',
      '{ a: [] }',
      '{ a: [...string[], number] }',
      ['widened a.[]: the list may be longer now', 'required a: needs at least 1 items now'],
    ],
    [
      'a mixed list for a list of one type',
      '{ a: (string | number)[] }',
      '{ a: string[] | number[] }',
      ['narrowed a.[]: was number or text, is now number', 'new a: the list of text is new'],
    ],
    [
      'lists of one type for a mixed list',
      '{ a: string[] | number[] }',
      '{ a: (string | number)[] }',
      ['widened a.[]: was number, is now number or text'],
    ],
    [
      'a list with types that are swapped',
      "{ a: ['sku', number] | ['ean', string] }",
      "{ a: ['sku', string] | ['ean', number] }",
      ['narrowed a.[1]: was text, is now number', 'narrowed a.[1]: was number, is now text'],
    ],
    [
      'lists that lose one',
      "{ a: ['sku', number] | ['ean', string] }",
      "{ a: ['sku', number] }",
      ['gone a: the list with `[0]` `ean` is gone'],
    ],
    ['a list as lists', "{ a: ['sku' | 'ean', number] }", "{ a: ['sku', number] | ['ean', number] }", []],
    [
      'forms that a new form covers',
      "{ by: 'a' } | { by: 'b' }",
      "{ by: string } | { by: 'c'; n: number }",
      ['widened by: was `a`, is now text', 'new : the form with `by` `c` is new'],
    ],
    [
      'a form that the second new form covers',
      "{ a: 'x' }",
      '{ a: number } | { a: string }',
      ['widened a: was `x`, is now text', 'new : the form with `a` is new'],
    ],
    [
      'a type that contains itself',
      '{ tree: Tree }; } interface Tree { kids: Tree[]; label: string } interface Rest {',
      '{ tree: Node }; } interface Node { kids: Node[]; label: number } interface Rest {',
      ['narrowed tree.label: was text, is now number'],
    ],
    [
      'values for other values',
      "{ plan: 'a' | 'b' }",
      "{ plan: 'b' | 'c' }",
      ['value-gone plan: `a` is gone', 'new plan: `c` is new'],
    ],
    [
      'a pattern',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
      '{ a: `x_${string}` }',
      "{ a: 'x_1' | 'x_2' }",
      ['narrowed a: was text like `^x_[\\s\\S]*$`, is now `x_1` or `x_2`'],
    ],
    [
      'a pattern that accepts more',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
      '{ a: `x.${number}y` }',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
      '{ a: `x.${string}` }',
      [expect.stringMatching(/^widened a: was text like/)],
    ],
    [
      'a pattern that accepts others',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
      '{ a: `x.${string}` }',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
      '{ a: `x.${number}` | `x${string}y` }',
      [expect.stringMatching(/^narrowed a: was text like/)],
    ],
    [
      'a property with another name',
      '{ plan: string }',
      '{ planName: string }',
      ['gone plan: is gone. Is it `planName` now?', 'required planName: is new and required'],
    ],
    ['a text that is not an object', '{ plan: string }', 'string', ['narrowed : was object, is now text']],
  ])('%s', (_what, old, now, changes) => {
    expect(payloads(old, now)).toEqual(changes);
  });

  it('an event with another name is a guess only if it accepts the same', () => {
    const old = 'interface Events { signup: { plan: string } }';
    expect(wordsOf(old, "interface Events { 'sign up': { plan: string } }")).toEqual([
      'gone : is gone. Is it `sign up` now?',
      'new : is new',
    ]);
    expect(wordsOf(old, "interface Events { 'sign up': { plan: number } }")).toEqual([
      'gone : is gone',
      'new : is new',
    ]);
  });
});

it('a list that accepts less than another one is a breaking change', () => {
  const types = [
    ...['string[]', 'number[]', '(string | number)[]', 'string[] | number[]', '[string]', '[string, number]'],
    ...['[string, number?]', '[string, ...string[]]', '[string, string, ...string[]]', '[...string[], number]', '[]'],
    ...[
      '[string] | [string, number]',
      "['a', number] | ['b', string]",
      "['a', string] | ['b', number]",
      '(string | null)[]',
    ],
  ];
  const parts = ['a', 'b', 1, null];
  const lists = [
    [],
    ...parts.flatMap((a) => [
      [a],
      ...parts.flatMap((b) => [
        [a, b],
        [a, b, 'c'],
        [a, b, 1],
      ]),
    ]),
  ];
  const { anyOf, ...rest } = catalogueOf(
    `interface Events { ${types.map((type, at) => `e${at}: ${type}`).join('; ')} }`,
  );
  const all = types.map((type, at) => {
    const payload = anyOf[at]?.properties.payload ?? {};
    const event = { title: 'e', required: ['event', 'payload'], properties: { event: { const: 'e' }, payload } };
    const accepted = lists.filter((list) => payloadFault(event, list, {}) === undefined);
    return { type, catalogue: { ...rest, anyOf: [event] }, accepted };
  });
  for (const one of all)
    for (const other of all) {
      const changes = compareCatalogues(one.catalogue, other.catalogue);
      const acceptsLess = one.accepted.some((list) => !other.accepted.includes(list));
      if (acceptsLess) expect(changes.some(isBreaking), `${one.type} to ${other.type}`).toBe(true);
    }
});

describe('two event maps', () => {
  const changes = (old: string, now: string) =>
    compareCatalogues(catalogueOf(`interface Events { ${old} }`), catalogueOf(`interface Events { ${now} }`)).map(
      ({ kind, event, path }) => [kind, event, ...path].join(' '),
    );
  const one = "{ kind: 'a' | 'b'; n: number }";
  const two = "{ kind: 'a'; n: number } | { kind: 'b'; n: number }";
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
  const steps = '[name: `step_${number}`]: { n: number }';

  it.each([
    ['a payload that is new and required', 'x: undefined', 'x: { a?: string }', ['new x a', 'required x']],
    ['a payload that is new and may be missing', 'x: undefined', 'x: { a: string } | undefined', ['new x']],
    ['forms as one form', `x: { v: ${two} }`, `x: { v: ${one} }`, []],
    ['one form as forms', `x: ${one}`, `x: ${two}`, []],
    ['forms as one form without a value', `x: ${two}`, "x: { kind: 'a' | 'c'; n: number }", ['gone x', 'new x']],
    ['forms as one form with a narrower value', `x: ${two}`, `x: ${one.replace('number', '1')}`, ['narrowed x n']],
    ['a name that a template has', 'step_1: { n: number }', steps, [`new step_\${number}`]],
    [
      'a name that a template has with another payload',
      'step_1: { n: string }',
      steps,
      ['narrowed step_1 n', `new step_\${number}`],
    ],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
    ['a template with more names', steps, steps.replace('number', 'string'), ['new step_${string}']],
    ['a name of its own', steps, `${steps}; step_1: { n: number; s: string }`, ['required step_1 s', 'new step_1']],
  ])('with %s differ in exactly that', (_what, old, now, expected) => {
    expect(changes(old, now)).toEqual(expected);
  });
});
