import { isIP } from 'node:net';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { readBody } from './body.ts';
import type { Changes } from './changes.ts';
import { type Database, lockWriting } from './database.ts';
import { answerError } from './errors.ts';
import type { Faults, ServerEnv } from './faults.ts';
import { object, plainObject, text, uuid, visibleText } from './fields.ts';
import { createJourney, deleteJourney } from './journeys.ts';
import { countAll, listCustomers, listCustomersOf, listEvents, listJourneys } from './listings.ts';
import { choosePrimaryKeyAttribute, readPrimaryKeyAttribute } from './settings.ts';
import { streamChanges } from './stream.ts';
import { check } from './validation.ts';

export interface InspectOptions {
  database: Database;
  faults: Faults;
  changes: Changes;
  /** Ends the streams. */
  closing: AbortSignal;
  /** Milliseconds between two signs of life on a stream. @default 15000 */
  heartbeat?: number;
}

const journeyBody = object({ name: visibleText, event: visibleText, filter: v.nullish(plainObject, null) });
const primaryKeyBody = object({ attribute: v.nullable(text) });
const checkJourney = (body: unknown) => check(journeyBody, body);
const checkPrimaryKey = (body: unknown) => check(primaryKeyBody, body);

/**
 * An IP address or localhost. With any other name, a page of another site could read the stored events. The owner of that name
 * can point it at this machine after the page is loaded (DNS rebinding). No site can do that with an address.
 */
const isOwnHost = (hostname: string): boolean =>
  isIP(hostname.replace(/^\[|\]$/g, '')) > 0 || /^(.+\.)?localhost$/.test(hostname);

/** The demo's own interface, without a key: the stored data, and the switches. */
export function createInspectApp(options: InspectOptions): Hono<ServerEnv> {
  const { database, faults, changes, closing, heartbeat = 15_000 } = options;
  const { query } = database;
  const app = new Hono<ServerEnv>();
  app.onError(answerError);
  app.use('/inspect/*', async (c, next) => {
    const { hostname } = new URL(c.req.url);
    if (isOwnHost(hostname)) return next();
    return c.json({ error: `Host: expected an IP address or localhost, received ${JSON.stringify(hostname)}` }, 403);
  });

  app.get('/inspect/events', async (c) => c.json({ events: await listEvents(query, readLimit(c)) }));
  app.get('/inspect/customers', async (c) => c.json({ customers: await listCustomers(query, readLimit(c)) }));
  app.get('/inspect/journeys', async (c) => c.json({ journeys: await listJourneys(query, readLimit(c)) }));
  app.get('/inspect/visitors/:id', async (c) => {
    const id = v.safeParse(uuid, c.req.param('id'));
    return c.json({ customers: id.success ? await listCustomersOf(query, id.output) : [] });
  });
  app.get('/inspect/stream', (c) => streamChanges(c, { changes, closing, heartbeat, count: () => countAll(query) }));
  app.get('/inspect/primary-key', async (c) => c.json({ attribute: await readPrimaryKeyAttribute(query) }));
  app.get('/inspect/faults', (c) => c.json(faults.state()));

  app.post('/inspect/journeys', async (c) => {
    const wanted = await readBody(c, checkJourney);
    const journey = await database.transaction(async (query) => {
      await lockWriting(query);
      return createJourney(query, wanted);
    });
    if (!journey) {
      throw new HTTPException(409, { message: 'a journey with this name, event and filter exists already' });
    }
    changes.announce();
    return c.json({ ...journey, count: 0, firings: [] }, 201);
  });

  app.delete('/inspect/journeys/:id', async (c) => {
    const id = v.safeParse(uuid, c.req.param('id'));
    if (!id.success || !(await deleteJourney(database, id.output))) {
      throw new HTTPException(404, { message: `there is no journey ${c.req.param('id')}` });
    }
    changes.announce();
    return c.body(null, 204);
  });

  app.put('/inspect/primary-key', async (c) => {
    const { attribute } = await readBody(c, checkPrimaryKey);
    await choosePrimaryKeyAttribute(query, attribute);
    changes.announce();
    return c.json({ attribute });
  });

  app.put('/inspect/faults', async (c) => c.json(await readBody(c, faults.set)));

  app.delete('/inspect/data', async (c) => {
    await clearData(database);
    changes.announce();
    return c.body(null, 204);
  });

  app.all('/inspect/*', (c) => c.json({ error: `${c.req.method} ${c.req.path} is no endpoint` }, 404));
  return app;
}

/** Journeys and settings stay. The function uses `delete`, because `truncate` waits for all readers and blocks new ones meanwhile. */
const clearData = ({ transaction }: Database): Promise<void> =>
  transaction(async (query) => {
    await lockWriting(query);
    for (const table of ['firings', 'events', 'visitor_ids', 'customers']) await query(`delete from ${table}`);
  });

function readLimit(c: Context): number | null {
  const limit = c.req.query('limit');
  if (limit === undefined) return null;
  if (!/^\d{1,15}$/.test(limit) || Number(limit) === 0) {
    throw new HTTPException(400, {
      message: `limit: expected a whole number above 0, received ${JSON.stringify(limit)}`,
    });
  }
  return Number(limit);
}
