import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Collector, createCollector } from '../../demo/collector/collector.ts';
import type { Database } from '../../demo/collector/database.ts';
import type { ListedCustomer, ListedEvent, ListedJourney } from '../../demo/collector/listings.ts';
import { type Driver, embedded } from './drivers.ts';

export const KEY = 'test-key';

/** A collector behind a real socket. */
export interface Running {
  url: string;
  database: Database;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** `batch`, `single` and `upsert` call an endpoint with the key, and expect status 201. */
  batch(...events: object[]): Promise<void>;
  single(event: object): Promise<void>;
  upsert(primaryKey: string, properties?: unknown): Promise<string>;
  events(): Promise<ListedEvent[]>;
  customers(): Promise<ListedCustomer[]>;
  journeys(): Promise<ListedJourney[]>;
  journey(name: string, event: string, filter?: object): Promise<ListedJourney>;
  stop(): Promise<void>;
}

export async function startCollector(driver: Driver = embedded): Promise<Running> {
  const { options, dispose } = await driver.prepare();
  const collector = await createCollector({
    apiKey: KEY,
    ...(options.url !== undefined && { databaseUrl: options.url }),
    ...(options.template !== undefined && { template: options.template }),
    ...(options.maxConnections !== undefined && { maxConnections: options.maxConnections }),
  });
  const { url, server } = await serveApp(collector.app);
  return {
    ...createVerbs(url),
    database: collector.database,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      await collector.close();
      if ('closeIdleConnections' in server) server.closeIdleConnections();
      await closed;
      await dispose();
    },
  };
}

export async function serveApp(app: Collector['app']) {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  // A busy test may begin a request in the moment in which the server ends an idle connection.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 0;
  if (!server.listening) await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function createVerbs(url: string) {
  const request: Running['request'] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Api-Key ${KEY}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const expect201 = async (path: string, body: unknown): Promise<string> => {
    const response = await request('POST', path, body);
    const text = await response.text();
    if (response.status !== 201) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text;
  };
  const list = async <T>(what: string): Promise<T[]> => {
    const listing = (await (await request('GET', `/inspect/${what}`)).json()) as Record<string, T[]>;
    return listing[what] ?? [];
  };
  return {
    url,
    request,
    batch: async (...batch: object[]) => void (await expect201('/api/events/batch/', { batch })),
    single: async (event: object) => void (await expect201('/events/', event)),
    upsert: async (primary_key: string, properties?: unknown) =>
      (JSON.parse(await expect201('/api/customers/upsert', { primary_key, properties })) as { id: string }).id,
    events: () => list<ListedEvent>('events'),
    customers: () => list<ListedCustomer>('customers'),
    journeys: () => list<ListedJourney>('journeys'),
    journey: async (name: string, event: string, filter?: object) =>
      JSON.parse(await expect201('/inspect/journeys', { name, event, filter })) as ListedJourney,
  };
}

/**
 * Postgres writes its statistics up to ten seconds after a change, by a timer. In a later file, whose clock is set back, the timer would run
 * every millisecond, as the comment of `WITHOUT_TIMER` in demo/collector/database.ts explains. Once the statistics are written, the timer runs once at most.
 */
export const writeStatistics = async (query: (sql: string) => Promise<unknown>): Promise<void> => {
  await query('select pg_stat_force_next_flush()');
};

let shared: Promise<Running> | undefined;
/** An embedded Postgres takes longer to start than most files of tests take, so the files of a worker share one. */
const startShared = (): Promise<Running> => {
  shared ??= startCollector(embedded);
  return shared;
};

/** One collector for the tests around it. Each test finds it empty, without journeys, and with `email` as the primary key. */
export function useCollector(driver: Driver = embedded): () => Running {
  let running: Running;
  beforeAll(async () => {
    running = await (driver === embedded ? startShared() : startCollector(driver));
  });
  beforeEach(async () => {
    await running.request('PUT', '/inspect/faults', { mode: 'none' });
    await running.request('PUT', '/inspect/primary-key', { attribute: 'email' });
    await running.request('DELETE', '/inspect/data');
    for (const { id } of await running.journeys()) await running.request('DELETE', `/inspect/journeys/${id}`);
  });
  afterAll(async () => {
    if (driver === embedded) await writeStatistics(running.database.query);
    else await running.stop();
  });
  return () => running;
}

/** A visitor id, and events of that visitor. */
export function createVisitor(correlationValue: string = randomUUID()) {
  const common = () => ({ uuid: randomUUID(), source: 'custom', correlationKey: '_id', correlationValue });
  return {
    correlationValue,
    event: (event: string, payload?: unknown) => ({ ...common(), timestamp: new Date().toISOString(), event, payload }),
    identify: (primaryKey: unknown) => ({ ...common(), event: '$identify', payload: { distinct_id: primaryKey } }),
  };
}
