/**
 * The part of JSON Schema (2020-12) that a catalogue uses. Objects are open: `context`, plugins and the relay add properties to
 * events.
 */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly deprecated?: boolean | undefined;
  readonly type?: 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array' | undefined;
  readonly const?: Literal | undefined;
  readonly enum?: readonly Literal[] | undefined;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: Schema | undefined;
  readonly items?: Schema | false | undefined;
  readonly prefixItems?: readonly Schema[] | undefined;
  readonly minItems?: number | undefined;
}

/** A value without parts. */
export type Literal = string | number | boolean | null;

/** Schemas of types that contain themselves, or that one payload has very often, by name. */
export type Definitions = Readonly<Record<string, Schema>>;

/** The file that `npx clew catalogue` writes: a JSON Schema of an event with its name and its payload. */
export interface Catalogue {
  readonly $schema: string;
  readonly title: string;
  readonly description: string;
  readonly anyOf: readonly EventSchema[];
  readonly $defs?: Definitions | undefined;
}

/** One event, or all events whose names have a pattern. */
export interface EventSchema extends Schema {
  readonly title: string;
  readonly properties: Readonly<Record<string, Schema>> & { readonly event: Schema };
  readonly required: readonly string[];
}

/** The text of JSON Schema's dialect. */
export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const REF = '#/$defs/';

/** A reference to a definition. */
export const refTo = (name: string): Schema => ({ $ref: REF + encodeURIComponent(name.replace(/~/g, '~0')) });

/** The schema that a reference leads to. A catalogue refers to its own definitions only. */
export const resolve = (schema: Schema, defs: Definitions): Schema => {
  if (schema.$ref === undefined) return schema;
  const name = decodeURIComponent(schema.$ref.slice(REF.length)).replace(/~0/g, '~');
  return Object.hasOwn(defs, name) ? (defs[name] as Schema) : {};
};

const sortedEntries = (map: Readonly<Record<string, Schema>>): [string, unknown][] =>
  Object.entries(map)
    .map(([name, one]): [string, unknown] => [name, bare(one)])
    .sort(([a], [b]) => (a < b ? -1 : 1));

const sortedTexts = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value)).sort();

/** A schema without the words about it, and with everything in one order that has none in its meaning. */
const bare = (schema: Schema): object => {
  const { $ref, type, const: only, format, pattern, items, minItems } = schema;
  const { enum: values, anyOf, properties = {}, required = [], additionalProperties, prefixItems } = schema;
  return {
    ...{ $ref, type, const: only, format, pattern, minItems },
    values: values && sortedTexts(values),
    anyOf: anyOf && sortedTexts(anyOf.map(bare)),
    properties: sortedEntries(properties),
    required: sortedTexts(required),
    others: additionalProperties && bare(additionalProperties),
    items: items && bare(items),
    isClosed: items === false,
    prefixItems: prefixItems?.map(bare),
  };
};

/** The same text for schemas that accept the same values. */
export const canonical = (schema: Schema): string => JSON.stringify(bare(schema));

const ANYTHING = canonical({});

/**
 * The alternatives of a schema, each without `anyOf`, `enum` and `$ref`. A boolean is two of them.
 *
 * @param open the references that led here: a type may be itself or something else, such as that of a `toJSON`
 */
export const alternativesOf = (schema: Schema, defs: Definitions, open: readonly string[] = []): Schema[] => {
  const { $ref } = schema;
  if ($ref !== undefined && open.includes($ref)) return [];
  const { anyOf, enum: values, ...rest } = resolve(schema, defs);
  if (anyOf) return anyOf.flatMap((one) => alternativesOf(one, defs, $ref === undefined ? open : [...open, $ref]));
  if (values) return values.map((value) => ({ const: value }));
  return rest.type === 'boolean' ? [{ const: false }, { const: true }] : [rest];
};

/** One schema for several. Values are gathered in one `enum`, in order, since the compiler's order depends on other files. */
export const unionOf = (schemas: readonly Schema[]): Schema => {
  const flat = schemas.flatMap((schema) => schema.anyOf ?? [schema]);
  const values = new Set(flat.flatMap(({ enum: several, const: one }) => several ?? (one === undefined ? [] : [one])));
  const others = new Map(
    flat.filter((schema) => !schema.enum && schema.const === undefined).map((schema) => [canonical(schema), schema]),
  );
  if (values.has(true) && values.has(false)) {
    values.delete(true);
    values.delete(false);
    others.set('boolean', { type: 'boolean' });
  }
  if ([...others.values()].some((schema) => canonical(schema) === ANYTHING)) return {};
  // A value of a type that is accepted anyway.
  const plain = new Set([...others.values()].filter((schema) => isPlain(schema)).map(({ type }) => type));
  const rest = [...values].filter((value) => !plain.has(typeof value as 'string')).sort(compareLiterals);
  const literal: Schema[] = rest[1] === undefined ? rest.map((value) => ({ const: value })) : [{ enum: rest }];
  const all = [...literal, ...[...others].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, schema]) => schema)];
  return all.length === 1 ? (all[0] as Schema) : { anyOf: all };
};

/** Whether a schema accepts all texts, or all numbers. */
const isPlain = ({ type, format, pattern }: Schema) =>
  (type === 'string' || type === 'number' || type === 'boolean') && format === undefined && pattern === undefined;

const compareLiterals = (a: Literal, b: Literal): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === typeof b ? (`${a}` < `${b}` ? -1 : 1) : typeof a < typeof b ? -1 : 1;
};

/** The event's name, or `undefined` for a pattern of names. */
export const nameOf = ({ properties: { event } }: EventSchema): string | undefined =>
  typeof event.const === 'string' ? event.const : undefined;

/** The schema of an event's envelope. */
export const eventSchema = (
  event: Schema,
  title: string,
  payload: Schema | undefined,
  isOptional: boolean,
  words: Pick<Schema, 'description' | 'deprecated'> = {},
): EventSchema => ({
  title,
  ...words,
  type: 'object',
  properties: { event, ...(payload && { payload }) },
  required: payload && !isOptional ? ['event', 'payload'] : ['event'],
});
