import { BATCH_PATH, IDENTIFY, isObject, UPSERT_PATH, type WireEvent } from '../wire.js';

/** A journey of the service. The journey waits for an event whose payload contains the filter. */
export interface RehearsedJourney {
  /** The name of the event. */
  readonly event: string;
  /** Values that the payload has to contain, also in nested objects. Without it, every event of the name starts the journey. */
  readonly filter?: object | null | undefined;
}

/** One start of the journey. */
export interface JourneyStart {
  /** The event, as the service received it. */
  readonly event: Readonly<WireEvent>;
  /** The customer's primary key, if the visitor was identified before the event. */
  readonly primaryKey?: string | undefined;
}

/** Whether a value contains another one, as `@>` of Postgres has it: objects by their properties, lists in any order. */
export const contains = (value: unknown, part: unknown): boolean => {
  if (isObject(part))
    return (
      isObject(value) &&
      Object.entries(part).every(([name, own]) => Object.hasOwn(value, name) && contains(value[name], own))
    );
  if (Array.isArray(part))
    return Array.isArray(value) && part.every((own) => value.some((item) => contains(item, own)));
  return value === part;
};

/** How the service answers: `undefined` as it should, a status, or `lost` after it has stored the events. */
type Trouble = number | 'lost' | undefined;

/**
 * Creates a service in memory behind a relay. The service stores an event as often as it receives one, because a real service may not
 * drop duplicates.
 */
export const createLedger = (journey: RehearsedJourney) => {
  const starts: JourneyStart[] = [];
  const customers = new Map<string, string>();
  const troubles: Trouble[] = [];
  // As the service has it: a date is a text, and `undefined` is nothing.
  const filter: unknown = JSON.parse(JSON.stringify(journey.filter ?? {}));
  const store = (event: WireEvent) => {
    const { payload, correlationValue } = event;
    if (event.event === IDENTIFY && isObject(payload)) customers.set(correlationValue, `${payload.distinct_id}`);
    if (event.event === journey.event && contains(payload ?? {}, filter))
      starts.push({ event, primaryKey: customers.get(correlationValue) });
  };
  const fetch = async (url: unknown, init?: { body?: unknown }): Promise<Response> => {
    const trouble = troubles.shift();
    if (typeof trouble === 'number') return new Response('', { status: trouble });
    const { pathname } = new URL(`${url}`);
    const body = JSON.parse(`${init?.body}`);
    if (pathname.endsWith(BATCH_PATH)) body.batch.forEach(store);
    else if (!pathname.endsWith(UPSERT_PATH)) store(body);
    if (trouble === 'lost') throw new TypeError('the connection was reset');
    return new Response(pathname.endsWith(UPSERT_PATH) ? '{"id":"1"}' : '', { status: 201 });
  };
  return {
    starts,
    fetch: fetch as typeof globalThis.fetch,
    /** Lets the next requests of the relay fail, one for each trouble. */
    fail: (...next: readonly Trouble[]) => void troubles.push(...next),
  };
};
