import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ANY_NUMBER } from '../../src/catalogue/pattern.ts';
import { readTypes } from '../../src/catalogue/readTypes.ts';
import { projectOf, readEvents } from './readSource.ts';

/** The schema of one payload. */
const payloadOf = (type: string, before = '') =>
  readEvents(`${before} interface Events { test: ${type} }`).events[0]?.properties.payload;
/** The schema of one property. */
const propertyOf = (type: string, before = '') => payloadOf(`{ value: ${type} }`, before)?.properties?.value;

describe('a type', () => {
  it.each([
    ['string', { type: 'string' }],
    ['boolean', { type: 'boolean' }],
    ["'pro' | 'free'", { enum: ['free', 'pro'] }],
    ["'pro'", { const: 'pro' }],
    ['3 | 1 | 20', { enum: [1, 3, 20] }],
    ["'none' | number", { anyOf: [{ const: 'none' }, { type: 'number' }] }],
    ['string | null', { anyOf: [{ type: 'null' }, { type: 'string' }] }],
    ['string & { brand: 1 }', { type: 'string' }],
    ['string[]', { type: 'array', items: { type: 'string' } }],
    ['readonly string[]', { type: 'array', items: { type: 'string' } }],
    [
      '[string, number]',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2 },
    ],
    ['Date', { type: 'string', format: 'date-time' }],
    ['Map<string, number>', { type: 'object' }],
    ['Record<string, number>', { type: 'object', additionalProperties: { type: 'number' } }],
    [
      "Record<'a' | 'b', number>",
      { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    ],
    ['Partial<{ a: string }>', { type: 'object', properties: { a: { type: 'string' } } }],
    ["Pick<{ a: string; b: string }, 'a'>", { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
    ['unknown', {}],
    ['any', {}],
    ['object', { anyOf: [{ type: 'array', items: {} }, { type: 'object' }] }],
    ['{}', {}],
    ['NonNullable<unknown>', {}],
    ['Record<string, never>', { type: 'object' }],
    ['String', {}],
    ['Object', {}],
    ['ArrayLike<string>', {}],
    ['Iterable<string>', {}],
    ['{ toString(): string }', {}],
    ['{ length: number }', {}],
    ['{ size: number }', { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] }],
    ['{ toJSON(): number | undefined }[]', { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'number' }] } }],
    ['string[] & { readonly brand: 1 }', { type: 'array', items: { type: 'string' } }],
    ['readonly string[] & { readonly brand: 1 }', { type: 'array', items: { type: 'string' } }],
    ['RegExpMatchArray', { type: 'array', items: { type: 'string' } }],
    [
      '[string] & { readonly brand: 1 }',
      { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1 },
    ],
    ['{ [position: number]: string }', { type: 'object' }],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
    ['{ [name: `data_${string}`]: number }', { type: 'object' }],
    ['{ toJSON(): number }', { type: 'number' }],
    ['(string | undefined)[]', { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'string' }] } }],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
    ['`step_${number}`', { type: 'string', pattern: `^step_${ANY_NUMBER}$` }],
  ])('%s is read as its JSON', (type, schema) => {
    expect(propertyOf(type)).toEqual(schema);
  });

  it.each([
    ['an enum', 'Size', "enum Size { S = 's', L = 'l' }", { enum: ['l', 's'] }],
    [
      'a const object',
      '(typeof SIZES)[keyof typeof SIZES]',
      "const SIZES = { s: 's', l: 'l' } as const;",
      { enum: ['l', 's'] },
    ],
    [
      'a class with private names',
      'Money',
      'class Money { #cents = 1; private currency = "EUR"; get total() { return this.#cents; } }',
      { type: 'object', properties: { currency: { type: 'string' } }, required: ['currency'] },
    ],
    ['an enum of bit flags', 'Perm', 'enum Perm { Read = 1, Write = 1 << 1, Admin = 4 }', { type: 'number' }],
    ['a list of bit flags', 'Perm[]', 'enum Perm { A = 1, B = 2 }', { type: 'array', items: { type: 'number' } }],
    ['one of bit flags', 'Perm.B', 'enum Perm { A = 1, B = 2 }', { const: 2 }],
    ['an enum that is numbered by itself', 'Level', 'enum Level { Low, Mid, High }', { enum: [0, 1, 2] }],
    ['an enum from 1', 'Level', 'enum Level { Low = 1, Mid, High }', { enum: [1, 2, 3] }],
    [
      'a class with `toString`',
      'Id',
      'class Id { id = 1; toString() { return "" } }',
      { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
    ],
    ['an empty interface', 'Empty', 'interface Empty {}', {}],
    ['an empty class', 'Empty', 'class Empty {}', { type: 'object' }],
    ['an alias of an alias', 'B', "type A = 'x' | 'y'; type B = A;", { enum: ['x', 'y'] }],
    [
      'a generic',
      'Paged<string>',
      'interface Paged<T> { items: T[] }',
      { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } }, required: ['items'] },
    ],
    ['an address', 'URL', 'class URL { toJSON(): string { return "" } }', { type: 'string' }],
    [
      'a class',
      'Cart',
      'class Cart { total = 1; get sum() { return 2 } add() {} }',
      { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    ],
  ])('%s is read', (_what, type, before, schema) => {
    expect(propertyOf(type, before)).toEqual(schema);
  });

  it.each([
    ['Error & { code: string }', '', ['code']],
    ['ApiError', 'class ApiError extends Error { code = "" }', ['code']],
    ['ApiError', "class ApiError extends Error { override name = 'api'; code = '' }", ['name', 'code']],
    ['Coded', 'interface Base extends Error { code: string } interface Coded extends Base {}', ['code']],
    ['Coded<string>', 'interface Coded<T> extends Error { code: T }', ['code']],
    ['Tagged', 'class Tagged extends Map<string, number> { code = "" }', ['code']],
    ['ReadonlySet<string> & { code: string }', '', ['code']],
    ["Pick<Error, 'message'>", '', ['message']],
  ])('%s requires no members of a built-in type', (type, before, names) => {
    const { properties, required } = propertyOf(type, before) ?? {};
    expect([Object.keys(properties ?? {}).sort(), required?.toSorted()]).toEqual([names.toSorted(), names.toSorted()]);
  });

  it('that is an instance of a generic list is a list', () => {
    expect(propertyOf('Tagged<string>', 'interface Tagged<T> extends Array<T> { tag: string }')?.type).toBe('array');
  });

  it('that JSON leaves out is left out', () => {
    expect(
      payloadOf(
        '{ f: () => void; s: symbol; u: undefined; n?: never; a: string; b?: string; c: string | undefined; x: unknown; k: typeof Money; m: new () => Money; g: Function; j: { toJSON(): string | undefined } }',
        'class Money { cents = 1 }',
      ),
    ).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' }, x: {}, j: { type: 'string' } },
      required: ['a'],
    });
  });

  it('that contains itself is a definition', () => {
    const { events, defs } = readEvents('interface Tree { kids: Tree[] } interface Events { planted: { tree: Tree } }');
    expect(events[0]?.properties.payload?.properties).toEqual({ tree: { $ref: '#/$defs/Tree' } });
    expect(defs).toEqual({
      Tree: {
        type: 'object',
        properties: { kids: { type: 'array', items: { $ref: '#/$defs/Tree' } } },
        required: ['kids'],
      },
    });
  });

  it('that grows without end is read to a depth', () => {
    expect(() => propertyOf('Box<string>', 'interface Box<T> { value: T; more?: Box<T[]> }')).not.toThrow();
  });

  /** Interfaces `M0` to `M<n>` with these members, and an event of the first. */
  const readChain = (n: number, members: (at: number) => string) => {
    const all = Array.from({ length: n }, (_, at) => `interface M${at} { ${members(at)} }`).join(' ');
    const { events, defs } = readEvents(`${all} interface M${n} { last: 1 } interface Events { test: M0 }`);
    return JSON.stringify({ events, defs });
  };

  it('that is related to all others in both directions is read once', () => {
    const all = Array.from({ length: 11 }, (_, at) => `m${at}: M${at};`).join(' ');
    const text = readChain(10, () => all);
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain('last');
  }, 5000);

  it('that has others twice, which have others twice, has definitions for the many copies', () => {
    const text = readChain(18, (at) => `a: M${at + 1}; b: M${at + 1};`);
    expect(text.length).toBeLessThan(200_000);
    expect(text).toContain('#/$defs/M17');
  });

  it('that is far from the payload is read', () => {
    expect(readChain(60, (at) => `a: M${at + 1}[]`)).toContain('last');
  });

  it('that clew cannot send is a problem', () => {
    expect(readEvents('interface Events { paid: { amount: bigint } }').problems).toEqual([
      'paid: payload.amount: a bigint has no JSON, so clew drops the event',
    ]);
  });
});

describe('an event map', () => {
  it('has events with, without and with an optional payload', () => {
    const { events } = readEvents(
      "interface Events { a: { x: 1 }; 'b c': undefined; d: { x: 1 } | undefined; e?: { x: 1 }; f: unknown }",
    );
    expect(events.map(({ title, required, properties }) => [title, required.length, !!properties.payload])).toEqual([
      ['a', 2, true],
      ['b c', 1, false],
      ['d', 1, true],
      ['e', 1, true],
      ['f', 1, true],
    ]);
  });

  it('reports names that the tracker rejects', () => {
    const { events, problems } = readEvents(
      "interface Events { '': undefined; $identify: { id: bigint }; a: undefined }",
    );
    expect(events.map(({ title }) => title)).toEqual(['a']);
    expect(problems).toEqual([
      "'': the tracker rejects an event of this name",
      "'$identify': the tracker rejects an event of this name",
    ]);
  });

  it('has names with a pattern', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
    const { events } = readEvents('interface Events { [name: `step_${number}`]: { at: number }; done: undefined }');
    expect(events.map(({ title, properties }) => [title, properties.event])).toEqual([
      ['done', { const: 'done' }],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
      ['step_${number}', { type: 'string', pattern: `^step_${ANY_NUMBER}$` }],
    ]);
  });

  it('takes descriptions from comments', () => {
    const { events } = readEvents(`
      /** Of the payload. */ interface Signup {
        /** The plan. */
        plan: string }
      interface Events {
        signup: Signup;
        /** Of the event. @deprecated */
        login: Signup }`);
    expect(events.map(({ description, deprecated }) => [description, deprecated])).toEqual([
      ['Of the payload.', undefined],
      ['Of the event.', true],
    ]);
    expect(events[0]?.properties.payload?.properties?.plan?.description).toBe('The plan.');
  });

  it('takes no descriptions from the comments of TypeScript’s own types', () => {
    const { events } = readEvents('interface Events { closed: Record<string, never>; at: Date }');
    expect(events.map(({ description }) => description)).toEqual([undefined, undefined]);
  });

  it('may come from other files, and extend others', () => {
    const others = { 'shop.ts': 'export interface ShopEvents { bought: { sku: string } }' };
    const { events } = readEvents(
      "import type { ShopEvents } from './shop'; interface Events extends ShopEvents { left: undefined }",
      others,
    );
    expect(events.map(({ title }) => title)).toEqual(['left', 'bought']);
  });

  it.each([
    ['a renamed import', "import { createTracker as create } from './clew'; create<{ a: undefined }>({});", ['a']],
    [
      'a declared type',
      "import { createTracker, type Tracker } from './clew'; const t: Tracker<{ a: undefined }> = createTracker({});",
      ['a'],
    ],
    [
      'two trackers',
      "import { createTracker } from './clew'; createTracker<{ a: undefined }>({}); createTracker<{ b: undefined }>({});",
      ['a', 'b'],
    ],
    ['no event map', "import { createTracker } from './clew'; createTracker({});", []],
    ['a missing package', "import { createTracker } from 'clew'; createTracker<{ a: undefined }>({});", ['a']],
  ])('is found by %s', (_what, source, names) => {
    const { events } = readTypes(ts, [projectOf({ 'tracker.ts': source })]);
    expect(events.map(({ title }) => title)).toEqual(names);
  });

  it.each(['(createTracker<E>)({})', 'createTracker!<E>({})', "clew['createTracker']<E>({})"])(
    'is found by %s',
    (call) => {
      const source = `import * as clew from './clew'; const { createTracker } = clew; type E = { a: undefined }; ${call};`;
      const { events } = readTypes(ts, [projectOf({ 'tracker.ts': source })]);
      expect(events.map(({ title }) => title)).toEqual(['a']);
    },
  );

  it('can be named', () => {
    const project = projectOf({
      'a.ts':
        'export interface Mine { a: undefined } type Local = { b: undefined }; export const use = (l: Local) => l',
    });
    const named = (name: string) =>
      readTypes(ts, [project], { file: '/app/a.ts', name }).events.map(({ title }) => title);
    expect([named('Mine'), named('Local')]).toEqual([['a'], ['b']]);
    expect(() => named('Other')).toThrow('/app/a.ts has no type Other');
  });

  it('of two trackers has both payloads of one name', () => {
    const { events } = readEvents('type Events = { a: { x: 1 } }; createTracker<{ a: { x: 2 } | undefined }>({});');
    expect(events).toHaveLength(1);
    expect(events[0]?.properties.payload?.anyOf).toHaveLength(2);
    expect(events[0]?.required).toEqual(['event']);
  });
});
