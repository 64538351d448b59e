import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { lockFolder } from './folder.ts';
import { SCHEMA } from './schema.ts';

/** Runs one statement and returns its rows. Objects are passed as JSON text, because the two drivers encode them differently. */
export type Query = <T>(sql: string, params?: unknown[]) => Promise<T[]>;

export interface Database {
  query: Query;
  /** Commits all of `work` or none of it. Inside, only the `query` that is passed in belongs to the transaction. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** A real Postgres: `postgres://…`. Takes precedence over `dir`. */
  url?: string;
  /** Folder of the embedded Postgres. Without it, the data are in memory and end with the process. */
  dir?: string;
  /**
   * File with a dump of PGlite (`dumpDataDir('none')`). A new embedded database starts as its copy, which is faster. A `dir` that
   * has data keeps them.
   */
  template?: string;
  /** Connections to the Postgres at `url`. @default 10 */
  maxConnections?: number;
}

/** Opens the database and creates the tables it lacks. */
export async function openDatabase(options: DatabaseOptions = {}): Promise<Database> {
  const { url, dir, template, maxConnections = 10 } = options;
  const database = url === undefined ? await openEmbedded(dir, template) : openServer(url, maxConnections);
  try {
    await createSchema(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/**
 * Allows one writer at a time, until the end of the transaction. Therefore batches never deadlock, and no visitor id or customer
 * is created twice. The order of `seq` is also the order in which the events became visible.
 */
export const lockWriting = (query: Query): Promise<unknown[]> => query('select pg_advisory_xact_lock(670183111)');

/** For single statements that are safe beside each other, but not in the middle of another writer's transaction. */
export const WRITING_LOCK_SHARED = 'pg_advisory_xact_lock_shared(670183111)';

const createSchema = ({ transaction }: Database): Promise<void> =>
  transaction(async (query) => {
    // Two servers may start on one Postgres: `if not exists` alone races there.
    await lockWriting(query);
    for (const statement of SCHEMA) await query(statement);
  });

/**
 * Postgres measures its start by a timer of ten seconds, which never ends in PGlite. If the clock is set back by weeks, the timer
 * needs a delay that is too long for JavaScript, and so it runs every millisecond.
 */
const WITHOUT_TIMER = ['-c', 'log_startup_progress_interval=0'];

/** PGlite in `path`, or in memory. PGlite refuses to load a dump where there are data. */
export async function createEngine(path?: string, template?: string): Promise<PGlite> {
  const hasData = path !== undefined && existsSync(join(path, 'PG_VERSION'));
  return PGlite.create({
    startParams: [...PGlite.defaultStartParams, ...WITHOUT_TIMER],
    ...(path !== undefined && { dataDir: path }),
    ...(template !== undefined && !hasData && { loadDataDir: new Blob([await readFile(template)]) }),
  });
}

async function openEmbedded(dir?: string, template?: string): Promise<Database> {
  const folder = dir === undefined ? undefined : await lockFolder(dir);
  const engine = await createEngine(folder?.path, template).catch(async (error: unknown) => {
    await folder?.release();
    throw error;
  });
  return {
    query: async <T>(sql: string, params: unknown[] = []) => (await engine.query<T>(sql, params)).rows,
    transaction: (work) =>
      engine.transaction((tx) =>
        work(async <T>(sql: string, params: unknown[] = []) => (await tx.query<T>(sql, params)).rows),
      ),
    async close() {
      await engine.close();
      await folder?.release();
    },
  };
}

function openServer(connectionString: string, max: number): Database {
  const pool = new pg.Pool({ connectionString, max });
  // Without a listener, a connection that breaks while idle ends the process. The pool replaces it by itself.
  pool.on('error', () => {});
  return {
    query: async <T>(sql: string, params: unknown[] = []) => (await pool.query(sql, params)).rows as T[],
    transaction: async (work) => {
      const client = await pool.connect();
      const query = async <T>(sql: string, params: unknown[] = []) => (await client.query(sql, params)).rows as T[];
      try {
        // A stricter default of the server would hide rows that others committed while this transaction waited for the lock.
        await query('begin isolation level read committed');
        const result = await work(query);
        await query('commit');
        client.release();
        return result;
      } catch (error) {
        const broken = await query('rollback').then(
          () => false,
          () => true,
        );
        client.release(broken);
        throw error;
      }
    },
    close: () => pool.end(),
  };
}
