import { randomUUID } from 'node:crypto';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import pg from 'pg';
import { createEngine, type DatabaseOptions } from '../../demo/collector/database.ts';

const { CLEW_DATABASE_TEMPLATE: template, TEST_DATABASE_URL } = process.env;

/** Makes a new database for each call of `prepare`. */
export interface Driver {
  name: string;
  prepare(): Promise<{ options: DatabaseOptions; dispose(): Promise<void> }>;
}

export const embedded: Driver = {
  name: 'PGlite',
  prepare: async () => ({ options: template ? { template } : {}, dispose: async () => {} }),
};

const overSocket: Driver = {
  name: 'pg over a socket',
  async prepare() {
    const db = await createEngine(undefined, template);
    const server = new PGLiteSocketServer({ db, port: 0 });
    await server.start();
    return {
      // One connection, because the socket server handles single messages. The statements of two clients would mix.
      options: { url: `postgres://postgres@${server.getServerConn()}/postgres`, maxConnections: 1 },
      async dispose() {
        await server.stop();
        await db.close();
      },
    };
  },
};

/** A schema of its own in the Postgres at `TEST_DATABASE_URL`. */
const realPostgres = (url: string): Driver => ({
  name: 'Postgres',
  async prepare() {
    const schema = `clew_${randomUUID().replaceAll('-', '')}`;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`create schema ${schema}`);
    const scoped = new URL(url);
    scoped.searchParams.set('options', `-csearch_path=${schema}`);
    return {
      options: { url: scoped.href },
      async dispose() {
        await client.query(`drop schema ${schema} cascade`);
        await client.end();
      },
    };
  },
});

export const drivers: Driver[] = [
  embedded,
  overSocket,
  ...(TEST_DATABASE_URL ? [realPostgres(TEST_DATABASE_URL)] : []),
];
