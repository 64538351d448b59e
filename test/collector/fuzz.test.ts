import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  anyBody,
  batchText,
  type EventText,
  goodEvents,
  goodJson,
  hold,
  mixedEvents,
  oddText,
} from '../relay/arbitraries.ts';
import { expectPristine } from '../relay/stage.ts';
import { KEY, useCollector } from './running.ts';

const running = useCollector();
/** Number of runs of a property. `npm test` plays a quarter of the runs of `npm run test:all`, from the same seed. */
const runs = (all: number) => (process.env.TEST_ALL ? all : all / 4);
const BATCH = '/api/events/batch/';
const UPSERT = '/api/customers/upsert';
afterEach(expectPristine);

const send = async (path: string, body: string | Uint8Array): Promise<number> => {
  const headers = { authorization: `Api-Key ${KEY}`, 'content-type': 'application/json' };
  const response = await fetch(running().url + path, { method: 'POST', body: Buffer.from(body), headers });
  await response.arrayBuffer();
  return response.status;
};
const count = async (): Promise<number> => {
  const [row] = await running().database.query<{ n: number }>('select count(*)::int as n from events');
  return row?.n ?? Number.NaN;
};
/** The newest `n` events, oldest first. */
const newest = async (n: number) =>
  (await (await running().request('GET', `/inspect/events?limit=${n}`)).json()) as { events: object[] };

/** Parsed JSON as the database returns it: lone surrogates and NUL are replaced. The order of keys does not count. */
const canonical = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd');
  if (Object.is(value, -0)) return 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  // Replacing characters may make two keys equal. The later key counts.
  const mended = new Map(Object.entries(value).map(([key, item]) => [canonical(key), canonical(item)]));
  return ['object', ...[...mended].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))];
};
const idAndPayload = (event: object) => {
  const { uuid, event: name, payload } = event as Record<string, unknown>;
  return canonical([uuid, name, payload ?? null]);
};

describe('any request to the collector', () => {
  it('causes no 5xx, and only events answered with 201 are stored', async () => {
    const path = fc.constantFrom(BATCH, '/events/', UPSERT);
    const property = fc.asyncProperty(path, anyBody, async (to, body) => {
      const before = await count();
      const status = await send(to, body);
      expect([201, 400, 413]).toContain(status);
      if (status !== 201) expect(await count()).toBe(before);
      expectPristine();
    });
    await hold(property, runs(200));
  });

  it('with a batch of valid events is stored as sent, in order', async () => {
    const property = fc.asyncProperty(goodEvents, async (events: EventText[]) => {
      const before = await count();
      expect(await send(BATCH, batchText(events))).toBe(201);
      expect((await count()) - before).toBe(events.length);
      const stored = (await newest(events.length)).events.map(idAndPayload);
      expect(stored).toEqual(events.map(({ text }) => idAndPayload(JSON.parse(text))));
    });
    await hold(property, runs(120));
  });

  it('with a batch that has an invalid event is refused as a whole', async () => {
    const spoilt = mixedEvents.filter((events) => events.some(({ isGood }) => !isGood));
    const property = fc.asyncProperty(spoilt, async (events) => {
      const before = await count();
      expect(await send(BATCH, batchText(events))).toBe(400);
      expect(await count()).toBe(before);
    });
    await hold(property, runs(200));
  });

  it('with a customer’s name and properties is stored as sent', async () => {
    const properties = fc.array(
      fc.tuple(
        oddText,
        goodJson.filter((json) => json !== 'null'),
      ),
      { maxLength: 4 },
    );
    const property = fc.asyncProperty(oddText.filter(Boolean), properties, async (name, entries) => {
      await running().request('DELETE', '/inspect/data');
      const given = `{${entries.map(([key, json]) => `${JSON.stringify(key)}:${json}`)}}`;
      expect(await send(UPSERT, `{"primary_key":${JSON.stringify(name)},"properties":${given}}`)).toBe(201);
      const [customer] = await running().customers();
      expect(customer?.primaryKey).toBe(canonical(name));
      expect(canonical(customer?.properties)).toEqual(canonical(JSON.parse(given)));
    });
    await hold(property, runs(120));
  });
});
