import fc from 'fast-check';

/** Event maps as data, how an app may write them in TypeScript, and changes of them with what each must report. */

export type Kind =
  | { readonly is: 'text' | 'number' | 'boolean' | 'date' | 'anything' }
  | { readonly is: 'values'; readonly values: readonly string[] }
  | { readonly is: 'list'; readonly of: Kind }
  | { readonly is: 'object'; readonly properties: readonly Property[] };

export interface Property {
  readonly name: string;
  readonly kind: Kind;
  readonly isOptional: boolean;
}

export interface TestEvent {
  readonly name: string;
  /** `undefined`: no payload. */
  readonly payload: readonly Property[] | undefined;
  readonly isOptional: boolean;
}

export type EventMap = readonly TestEvent[];

const NAMES = ['plan', 'term', 'sku', 'page', 'amount', 'currency', 'step', 'source', 'variant', 'position'];
const VALUES = ['free', 'pro', 'team', 'gold', 'monthly', 'yearly', 'a b', "it's"];
const EVENTS = ['signup', 'cart viewed', 'searched', 'order_paid', 'step-done', 'video:played', 'login'];

const kinds = fc.letrec<{ kind: Kind; property: Property }>((tie) => ({
  kind: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Kind>({ is: 'text' }, { is: 'number' }, { is: 'boolean' }, { is: 'date' }),
    fc
      .uniqueArray(fc.constantFrom(...VALUES), { minLength: 2, maxLength: 4 })
      .map((values): Kind => ({ is: 'values', values })),
    tie('kind').map((of): Kind => ({ is: 'list', of })),
    fc
      .uniqueArray(tie('property'), { selector: ({ name }) => name, minLength: 1, maxLength: 3 })
      .map((properties): Kind => ({ is: 'object', properties })),
  ),
  property: fc.record({ name: fc.constantFrom(...NAMES), kind: tie('kind'), isOptional: fc.boolean() }),
}));

const payloads = fc.uniqueArray(kinds.property, { selector: ({ name }) => name, minLength: 1, maxLength: 4 });

export const eventMaps: fc.Arbitrary<EventMap> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...EVENTS),
    payload: fc.option(payloads, { nil: undefined, freq: 4 }),
    isOptional: fc.boolean(),
  }),
  { selector: ({ name }) => name, minLength: 2, maxLength: 5 },
);

/** How a map is written. None of it changes what the map means. */
export interface Style {
  /** Payloads and objects as interfaces, as aliases, or in place. */
  readonly form: 'interface' | 'alias' | 'inline';
  readonly isReversed: boolean;
  readonly hasComments: boolean;
  readonly isDense: boolean;
  /** A map as an interface that extends another one. */
  readonly isSplit: boolean;
  readonly usesUndefined: boolean;
}

export const styles: fc.Arbitrary<Style> = fc.record({
  form: fc.constantFrom<Style['form']>('interface', 'alias', 'inline'),
  isReversed: fc.boolean(),
  hasComments: fc.boolean(),
  isDense: fc.boolean(),
  isSplit: fc.boolean(),
  usesUndefined: fc.boolean(),
});

/** Writes a map as TypeScript. */
export const write = (map: EventMap, style: Style): string => {
  const declared: string[] = [];
  const order = <T>(items: readonly T[]) => (style.isReversed ? items.toReversed() : items);
  const end = style.isDense ? '; ' : ';\n';
  const comment = (text: string) => (style.hasComments ? `\n/** About ${text.replaceAll('*', '')}. */\n` : '');
  const name = (body: string): string => {
    if (style.form === 'inline') return body;
    const id = `T${declared.length}${style.isReversed ? 'x' : ''}`;
    declared.push(style.form === 'interface' ? `interface ${id} ${body}` : `type ${id} = ${body};`);
    return id;
  };
  const object = (properties: readonly Property[]): string => {
    const members = order(properties).map((property) => {
      const isMarked = property.isOptional && !style.usesUndefined;
      const type = kind(property.kind) + (property.isOptional && style.usesUndefined ? ' | undefined' : '');
      return `${comment(property.name)}${property.name}${isMarked ? '?' : ''}: ${type}`;
    });
    return name(`{ ${members.join(end)} }`);
  };
  const kind = (one: Kind): string => {
    if (one.is === 'values')
      return order(one.values)
        .map((value) => JSON.stringify(value))
        .join(' | ');
    if (one.is === 'list') return style.form === 'alias' ? `Array<${kind(one.of)}>` : `(${kind(one.of)})[]`;
    if (one.is === 'object') return object(one.properties);
    return {
      text: 'string',
      number: 'number',
      boolean: style.isReversed ? 'true | false' : 'boolean',
      date: 'Date',
      anything: 'unknown',
    }[one.is];
  };
  const members = order(map).map(({ name: event, payload, isOptional }) => {
    const type = payload ? object(payload) : 'undefined';
    return `${comment(event)}${JSON.stringify(event)}: ${type}${payload && isOptional ? ' | undefined' : ''}`;
  });
  const half = style.isSplit ? Math.floor(members.length / 2) : 0;
  const base = style.isSplit ? `interface Base { ${members.slice(0, half).join(end)} }\n` : '';
  const events = `interface Events ${style.isSplit ? 'extends Base ' : ''}{ ${members.slice(half).join(end)} }`;
  return [...declared, base, events].join('\n');
};

/** The report of a change: its kind, the event and the path, and the value that is gone. */
export type Expected = readonly [kind: string, event: string, path: string, value?: string];

export interface Seeded {
  readonly what: string;
  readonly map: EventMap;
  readonly expected: readonly Expected[];
}

/** Each place of a property, with a function that replaces the property there by others. */
interface Place {
  readonly event: string;
  readonly path: string;
  readonly property: Property;
  readonly siblings: readonly Property[];
  readonly replace: (properties: readonly Property[]) => EventMap;
}

const placesIn = (
  properties: readonly Property[],
  event: string,
  prefix: string,
  replaceAll: (properties: readonly Property[]) => EventMap,
): Place[] =>
  properties.flatMap((property) => {
    const path = prefix ? `${prefix}.${property.name}` : property.name;
    const replace = (others: readonly Property[]) =>
      replaceAll(properties.flatMap((one) => (one === property ? others : [one])));
    const withKind = (kind: Kind) => replace([{ ...property, kind }]);
    return [
      { event, path, property, siblings: properties, replace },
      ...placesOf(property.kind, event, path, withKind),
    ];
  });

const placesOf = (kind: Kind, event: string, path: string, withKind: (kind: Kind) => EventMap): Place[] => {
  if (kind.is === 'list') return placesOf(kind.of, event, `${path}.[]`, (of) => withKind({ is: 'list', of }));
  if (kind.is !== 'object') return [];
  return placesIn(kind.properties, event, path, (properties) => withKind({ is: 'object', properties }));
};

const places = (map: EventMap): Place[] =>
  map.flatMap((event) =>
    placesIn(event.payload ?? [], event.name, '', (payload) =>
      map.map((one) => (one === event ? { ...one, payload } : one)),
    ),
  );

const NEW: Property = { name: 'added', kind: { is: 'text' }, isOptional: true };

/** Changes of one property. */
const changesAt = ({ event, path, property, siblings, replace }: Place): Seeded[] => {
  const { kind, isOptional } = property;
  const at = (what: string, others: readonly Property[], ...expected: Expected[]): Seeded => ({
    what: `${what} ${event}: ${path}`,
    map: replace(others),
    expected,
  });
  const to = (what: string, other: Kind, report: string): Seeded =>
    at(`${what} to ${other.is}`, [{ ...property, kind: other }], [report, event, path]);
  const parent = path.slice(0, -property.name.length);
  const renamed = { ...property, name: `${property.name}_x` };
  const found = [
    at(
      'rename',
      [renamed],
      ['gone', event, path],
      [isOptional ? 'new' : 'required', event, `${parent}${renamed.name}`],
    ),
    at('add optional beside', [property, NEW], ['new', event, `${parent}added`]),
    at('add required beside', [property, { ...NEW, isOptional: false }], ['required', event, `${parent}added`]),
    at('toggle', [{ ...property, isOptional: !isOptional }], [isOptional ? 'required' : 'optional', event, path]),
    to('widen', { is: 'anything' }, 'widened'),
  ].filter(({ what }) => !what.startsWith('widen') || isOptional);
  if (siblings.length > 1) found.push(at('remove', [], ['gone', event, path]));
  if (kind.is === 'text') {
    found.push(to('change', { is: 'number' }, 'narrowed'), to('change', { is: 'date' }, 'narrowed'));
    found.push(to('narrow', { is: 'values', values: ['x', 'y'] }, 'narrowed'));
    found.push(to('change', { is: 'list', of: kind }, 'narrowed'));
  }
  if (kind.is === 'number') found.push(to('change', { is: 'text' }, 'narrowed'));
  if (kind.is === 'date') found.push(to('widen', { is: 'text' }, 'widened'));
  if (kind.is === 'object') found.push(to('change', { is: 'text' }, 'narrowed'));
  if (kind.is === 'list') found.push(to('change', { is: 'boolean' }, 'narrowed'));
  if (kind.is === 'values') {
    const [first = '', ...rest] = kind.values;
    const values = (of: readonly string[]): Property[] => [{ ...property, kind: { is: 'values', values: of } }];
    found.push(at('lose a value', values(rest), ['value-gone', event, path, first]));
    found.push(at('gain a value', values([...kind.values, 'brand new']), ['new', event, path]));
    found.push(
      at('rename a value', values([...rest, 'brand new']), ['value-gone', event, path, first], ['new', event, path]),
    );
    found.push(to('widen', { is: 'text' }, 'widened'), to('change', { is: 'number' }, 'narrowed'));
  }
  return found;
};

/** Changes of one event. */
const changesOf = (map: EventMap, event: TestEvent): Seeded[] => {
  const { name, payload, isOptional } = event;
  const replace = (...others: TestEvent[]) => map.flatMap((one) => (one === event ? others : [one]));
  const found: Seeded[] = [
    { what: `remove ${name}`, map: replace(), expected: [['gone', name, '']] },
    {
      what: `rename ${name}`,
      map: replace({ ...event, name: `${name} 2` }),
      expected: [
        ['gone', name, ''],
        ['new', `${name} 2`, ''],
      ],
    },
    { what: `add beside ${name}`, map: replace(event, { ...event, name: 'added' }), expected: [['new', 'added', '']] },
  ];
  if (payload) {
    const expected: Expected[] = [[isOptional ? 'required' : 'optional', name, '']];
    found.push({
      what: `toggle the payload of ${name}`,
      map: replace({ ...event, isOptional: !isOptional }),
      expected,
    });
    const gone = payload.map((property): Expected => ['gone', name, property.name]);
    found.push({
      what: `remove the payload of ${name}`,
      map: replace({ ...event, payload: undefined }),
      expected: gone,
    });
  } else {
    const fresh = [NEW, { ...NEW, name: 'other', isOptional: false }];
    const expected: Expected[] = [
      ['new', name, 'added'],
      ['required', name, 'other'],
    ];
    found.push({
      what: `add a payload to ${name}`,
      map: replace({ ...event, payload: fresh, isOptional: false }),
      expected,
    });
  }
  return found;
};

/** All changes of a map that this file knows. */
export const seededChanges = (map: EventMap): Seeded[] => [
  ...map.flatMap((event) => changesOf(map, event)),
  ...places(map).flatMap(changesAt),
];
