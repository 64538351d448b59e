import type { Journey } from './journeys.js';
import { alternativesOf, type Catalogue, type Definitions, type EventSchema, type Schema } from './schema.js';
import { codeOf, phraseOf } from './words.js';

/** Text in a cell of a table. */
const cell = (text: string): string => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');

interface Row {
  readonly place: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Deeper properties are not listed. */
const MAX_DEPTH = 4;

/** The properties of an object, and of the objects and lists in it. A filter names them by this path. */
const rowsOf = (schema: Schema, defs: Definitions, prefix = '', depth = 0, isWithin = true): Row[] => {
  if (depth > MAX_DEPTH) return [];
  const forms = alternativesOf(schema, defs);
  const lists = forms.filter(({ type }) => type === 'array');
  const ofLists = lists.flatMap(({ items }) => (items ? rowsOf(items, defs, `${prefix}[]`, depth + 1, false) : []));
  const objects = forms.filter(({ type }) => type === 'object');
  const names = [...new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})))];
  const ofObjects = names.flatMap((name): Row[] => {
    const own = objects.flatMap(({ properties }) => properties?.[name] ?? []);
    const isRequired = isWithin && objects.every(({ required }) => required?.includes(name));
    const [first = {}] = own;
    const { description, deprecated } = first;
    const all = own.length > 1 ? { anyOf: own, description, deprecated } : first;
    const place = prefix ? `${prefix}.${name}` : name;
    return [{ place, schema: all, isRequired }, ...rowsOf(all, defs, place, depth + 1, isRequired)];
  });
  return [...ofObjects, ...ofLists];
};

const tableOf = (rows: readonly Row[], defs: Definitions): string[] => [
  '| property | value | always there | meaning |',
  '| --- | --- | --- | --- |',
  ...rows.map(({ place, schema, isRequired }) => {
    const meaning = [schema.deprecated ? '**Deprecated.**' : '', schema.description ?? ''].filter(Boolean).join(' ');
    const cells = [codeOf(place), phraseOf(schema, defs), isRequired ? 'yes' : 'no', meaning];
    return `| ${cells.map(cell).join(' | ')} |`;
  }),
];

const journeyLine = ({ name, filter }: Journey): string =>
  `- *${name}*${filter ? `, filter ${codeOf(filter)}` : ', without a filter'}`;

const sectionOf = (event: EventSchema, journeys: readonly Journey[], defs: Definitions): string[] => {
  const { title, description, deprecated, required, properties } = event;
  const rows = rowsOf(properties.payload ?? {}, defs);
  const waiting = journeys.filter((journey) => journey.event === title);
  const isOptional = properties.payload && !required.includes('payload');
  return [
    `## ${title.replace(/([\\`*[\]<>])/g, '\\$1')}`,
    '',
    ...(deprecated ? ['**Deprecated.** Do not build new journeys on it.', ''] : []),
    ...(description ? [description, ''] : []),
    ...(rows[0]
      ? [...tableOf(rows, defs), '']
      : [properties.payload ? `Payload: ${phraseOf(properties.payload, defs)}.` : 'No payload.', '']),
    ...(isOptional && rows[0] ? ['The payload may be missing.', ''] : []),
    ...(waiting[0] ? ['Journeys that wait for it:', '', ...waiting.map(journeyLine), ''] : []),
  ];
};

/** The catalogue as a page for people who build journeys. */
export const markdownOf = ({ title, anyOf, $defs = {} }: Catalogue, journeys: readonly Journey[]): string => {
  const lines = [
    `# ${title}`,
    '',
    'The events of this site, made by `npx clew catalogue`. A journey waits for an event, and filters on the values of its properties.',
    '',
    ...anyOf.flatMap((event) => sectionOf(event, journeys, $defs)),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
};
