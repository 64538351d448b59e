import { setMaxListeners } from 'node:events';
import { Hono } from 'hono';
import { createChanges } from './changes.ts';
import { type Database, lockWriting, openDatabase } from './database.ts';
import { createFaults, type ServerEnv } from './faults.ts';
import { createInspectApp } from './inspect.ts';
import { createJourney } from './journeys.ts';
import { createServiceApp } from './service.ts';
import { choosePrimaryKeyAttribute, isFirstStart } from './settings.ts';

export interface CollectorOptions {
  /** The key that the service's three endpoints require. */
  apiKey: string;
  /** A real Postgres. Without it, the collector uses an embedded one. */
  databaseUrl?: string;
  /** Folder of the embedded Postgres. Without it, the data are in memory. */
  dataDir?: string;
  /** File with a dump of PGlite, from which a new embedded Postgres starts. */
  template?: string;
  /** Connections to the Postgres at `databaseUrl`. @default 10 */
  maxConnections?: number;
}

export interface Collector {
  /** The service's endpoints and `/inspect`, for `@hono/node-server`. */
  app: Hono<ServerEnv>;
  /** For tests that need more than `/inspect` shows. */
  database: Database;
  /** Ends the streams and the requests held by a fault, then closes the database. Call it before waiting for the server to close. */
  close(): Promise<void>;
}

/** A copy of the service that clew sends to, small enough for a laptop. */
export async function createCollector(options: CollectorOptions): Promise<Collector> {
  const { apiKey, databaseUrl, dataDir, template, maxConnections } = options;
  const database = await openDatabase({
    ...(databaseUrl !== undefined && { url: databaseUrl }),
    ...(dataDir !== undefined && { dir: dataDir }),
    ...(template !== undefined && { template }),
    ...(maxConnections !== undefined && { maxConnections }),
  });
  await seed(database);

  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const changes = createChanges();
  const faults = createFaults(changes.announce);
  const app = new Hono<ServerEnv>();
  app.route('/', createServiceApp({ database, apiKey, faults, changes }));
  app.route('/', createInspectApp({ database, faults, changes, closing: closing.signal }));

  let closed: Promise<void> | undefined;
  return {
    app,
    database,
    close() {
      closing.abort();
      faults.release();
      closed ??= database.close();
      return closed;
    },
  };
}

/** Runs on the first start only, so that deleted journeys stay deleted. */
const seed = ({ transaction }: Database): Promise<void> =>
  transaction(async (query) => {
    await lockWriting(query);
    if (!(await isFirstStart(query))) return;
    await choosePrimaryKeyAttribute(query, 'email');
    await createJourney(query, { name: 'Welcome to Pro', event: 'signup', filter: { plan: 'pro' } });
    await createJourney(query, { name: 'Cart reminder', event: 'cart_viewed', filter: null });
  });
