import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import autocannon from 'autocannon';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY as COLLECTOR_KEY, useCollector } from '../collector/running.ts';
import { closeServer, listenOn } from '../upstream.ts';
import { BATCH, event, useRelays } from './stage.ts';

/** A service that counts events by id, and stores no event. */
const counted = new Set<string>();
let doubled = 0;
const service = createServer(async (request, response) => {
  const { batch } = (await json(request)) as { batch: { uuid: string }[] };
  for (const { uuid } of batch) {
    if (counted.has(uuid)) doubled++;
    counted.add(uuid);
  }
  response.writeHead(201).end();
});
let serviceUrl: string;
beforeAll(async () => {
  serviceUrl = await listenOn(service);
});
afterAll(() => closeServer(service));
const collector = useCollector();
/** The limits are high, because all of the load has one address. */
const HIGH = { rate: 1_000_000, burst: 1_000_000 };
const limits = { address: HIGH, total: HIGH };
const openRelay = useRelays(() => ({ baseUrl: serviceUrl, timeout: 60_000, limits }));

/** 200 connections, each of which sends its next batch when the last one is answered. */
const load = (url: string, events: number, length: { duration: number } | { amount: number }) =>
  autocannon({
    url,
    connections: 200,
    // A slow answer is not an error here. The bench measures times.
    timeout: 60,
    ...length,
    requests: [
      {
        method: 'POST',
        path: BATCH,
        headers: { 'content-type': 'application/json' },
        setupRequest: (request) => ({
          ...request,
          body: JSON.stringify({ batch: Array.from({ length: events }, (_, n) => event(`e${n}`)) }),
        }),
      },
    ],
  });
const faultsOf = ({ errors, timeouts, non2xx, mismatches }: autocannon.Result) => ({
  errors,
  timeouts,
  non2xx,
  mismatches,
});
const NONE = { errors: 0, timeouts: 0, non2xx: 0, mismatches: 0 };

it('69 the relay handles 200 connections for 5 s: only successes, no event lost or duplicated', async () => {
  const relay = await openRelay();
  const result = await load(relay.url, 20, { duration: 5 });
  expect(faultsOf(result)).toEqual(NONE);
  expect(result['2xx']).toBeGreaterThan(200);
  expect(doubled).toBe(0);
  // Requests in flight at the end of the load have arrived without an answer.
  expect(counted.size).toBeGreaterThanOrEqual(result['2xx'] * 20);
  expect(counted.size).toBeLessThanOrEqual((result['2xx'] + 200) * 20);
}, 90_000);

it('69 relay and collector handle 200 connections: every confirmed event is stored once', async () => {
  const relay = await openRelay({ baseUrl: collector().url, apiKey: COLLECTOR_KEY });
  const result = await load(relay.url, 2, { amount: 600 });
  expect(faultsOf(result)).toEqual(NONE);
  expect(result['2xx']).toBe(600);
  expect(await collector().events()).toHaveLength(600 * 2);
}, 90_000);
