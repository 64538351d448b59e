import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { HTTPException } from 'hono/http-exception';
import { requireKey } from './authorisation.ts';
import { readBody } from './body.ts';
import type { Changes } from './changes.ts';
import type { Database } from './database.ts';
import { answerError } from './errors.ts';
import type { Faults, ServerEnv } from './faults.ts';
import { storeEvents } from './ingest.ts';
import { upsertCustomer } from './upsert.ts';
import { checkBatch, checkEvent, checkUpsert } from './validation.ts';

export interface ServiceOptions {
  database: Database;
  apiKey: string;
  faults: Faults;
  changes: Changes;
}

const NO_PRIMARY_KEY =
  'no primary key attribute is chosen: choose one on the demo page, or with PUT /inspect/primary-key {"attribute":"email"}';

/** The service's three endpoints, as the contract has them. */
export function createServiceApp({ database, apiKey, faults, changes }: ServiceOptions): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>();
  app.onError(answerError);
  for (const path of ['/api/*', '/events/*']) app.use(path, allowBrowsers);

  const guards = [requireKey(apiKey), faults.interfere] as const;

  app.on('POST', eitherSlash('/api/customers/upsert'), ...guards, async (c) => {
    const id = await upsertCustomer(database.query, await readBody(c, checkUpsert));
    if (id === undefined) throw new HTTPException(400, { message: NO_PRIMARY_KEY });
    changes.announce();
    return c.json({ id }, 201);
  });

  app.on('POST', eitherSlash('/api/events/batch'), ...guards, async (c) => {
    await storeEvents(database, await readBody(c, checkBatch));
    changes.announce();
    return c.body(null, 201);
  });

  app.on('POST', eitherSlash('/events'), ...guards, async (c) => {
    await storeEvents(database, [await readBody(c, checkEvent)]);
    changes.announce();
    return c.body(null, 201);
  });

  for (const path of ['/api/*', '/events/*']) {
    app.all(path, (c) => c.json({ error: `${c.req.method} ${c.req.path} is no endpoint` }, 404));
  }
  return app;
}

const eitherSlash = (path: string): string[] => [path, `${path}/`];

const allowBrowsers = cors({
  origin: '*',
  allowMethods: ['POST'],
  allowHeaders: ['authorization', 'content-type', 'content-encoding'],
  exposeHeaders: ['Retry-After'],
  maxAge: 86_400,
});
