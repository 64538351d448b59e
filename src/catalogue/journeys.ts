import { isObject } from '../wire.js';
import type { Change } from './compare.js';
import { eventNamed, fitsScalar } from './fits.js';
import { alternativesOf, type Catalogue, type Definitions, type Literal, type Schema } from './schema.js';

/** A journey of the service: it waits for an event whose payload contains the filter. */
export interface Journey {
  readonly name: string;
  readonly event: string;
  readonly filter?: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * Reads journeys: a list, or an object with the list `journeys`, as the collector answers at `/inspect/journeys`.
 *
 * @throws TypeError with the place of the fault
 */
export const readJourneys = (value: unknown): Journey[] => {
  const list = isObject(value) ? value.journeys : value;
  if (!Array.isArray(list)) throw new TypeError('expected a list of journeys, or an object with the list `journeys`');
  return list.map((one, at) => {
    if (!isObject(one)) throw new TypeError(`journey ${at + 1}: expected an object`);
    const { name, event, filter } = one;
    if (typeof name !== 'string' || typeof event !== 'string')
      throw new TypeError(`journey ${at + 1}: expected \`name\` and \`event\` as texts`);
    if (filter !== undefined && filter !== null && !isObject(filter))
      throw new TypeError(`journey ${name}: expected \`filter\` as an object`);
    return { name, event, filter };
  });
};

/** The filter's values at the path of a change. */
const valuesAt = (filter: unknown, path: readonly string[]): unknown[] => {
  const [name, ...rest] = path;
  if (name === undefined) return [filter];
  if (Array.isArray(filter)) return /^\[/.test(name) ? filter.flatMap((item) => valuesAt(item, rest)) : [];
  if (!isObject(filter)) return [];
  if (name === '*') return Object.values(filter).flatMap((item) => valuesAt(item, rest));
  return Object.hasOwn(filter, name) ? valuesAt(filter[name], rest) : [];
};

/** Whether some value that the schema accepts contains the filter, as `@>` of Postgres has it. */
const canContain = (schema: Schema, filter: unknown, defs: Definitions): boolean =>
  alternativesOf(schema, defs).some((one) => {
    const { type, const: value, properties = {}, additionalProperties, prefixItems = [], items } = one;
    if (type === undefined && value === undefined) return true;
    if (isObject(filter))
      return (
        type === 'object' &&
        Object.entries(filter).every(([name, wanted]) => {
          const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
          // `context` and the relay may add other properties.
          return !own || canContain(own, wanted, defs);
        })
      );
    if (Array.isArray(filter)) {
      const own = [...prefixItems, ...(items ? [items] : [])];
      return type === 'array' && filter.every((wanted) => own.some((item) => canContain(item, wanted, defs)));
    }
    return fitsScalar(one, filter as Literal);
  });

/** Whether a journey can start, as far as the catalogue knows. */
export const canStart = ({ event, filter }: Journey, { anyOf, $defs = {} }: Catalogue): boolean => {
  const own = eventNamed(anyOf, event);
  return !!own && canContain(own.properties.payload ?? {}, filter ?? {}, $defs);
};

/** How a change affects a journey, as a sentence. */
const effectOn = (journey: Journey, change: Change, now: Catalogue): string | undefined => {
  const { event, path, kind, value } = change;
  if (journey.event !== event) return undefined;
  if (kind === 'gone' && !path[0] && !eventNamed(now.anyOf, event))
    return `The journey *${journey.name}* waits for it.`;
  const found = valuesAt(journey.filter ?? {}, path);
  const isHit =
    kind === 'value-gone'
      ? found.includes(value)
      : (kind === 'gone' && path[0] !== undefined && found[0] !== undefined) ||
        ((kind === 'narrowed' || kind === 'gone') && found[0] !== undefined && !canStart(journey, now));
  return isHit ? `The journey *${journey.name}* filters on it.` : undefined;
};

/** The sentences about the journeys that a change affects. */
export const effectsOf = (change: Change, journeys: readonly Journey[], now: Catalogue): string[] =>
  journeys.map((journey) => effectOn(journey, change, now)).filter((text) => text !== undefined);
