import { describe, expect, it, vi } from 'vitest';
import { createChanges } from '../../demo/collector/changes.ts';
import { type Database, lockWriting, type Query } from '../../demo/collector/database.ts';
import { createFaults } from '../../demo/collector/faults.ts';
import { storeEvents } from '../../demo/collector/ingest.ts';
import { createInspectApp } from '../../demo/collector/inspect.ts';
import { deleteJourney } from '../../demo/collector/journeys.ts';
import { upsertCustomer } from '../../demo/collector/upsert.ts';
import { checkBatch } from '../../demo/collector/validation.ts';
import type { Driver } from './drivers.ts';
import { createVisitor, type Running } from './running.ts';

/** The advisory locks that the transaction of `query` holds, by the database's own account. */
const heldBy = async (query: Query): Promise<string[]> => {
  const locks = await query<{ mode: string }>(
    `select mode from pg_locks where locktype = 'advisory' and granted and pid = pg_backend_pid() order by mode`,
  );
  return locks.map(({ mode }) => mode);
};

/** A database that notes, for each statement of a transaction that touches a table, which locks it runs under. */
const watch = (database: Database) => {
  const touched: { sql: string; locks: string[] }[] = [];
  const watched: Database = {
    ...database,
    transaction: (work) =>
      database.transaction((query) =>
        work(async (sql, params) => {
          if (/\b(from|into|update)\b/.test(sql)) touched.push({ sql, locks: await heldBy(query) });
          return query(sql, params);
        }),
      ),
  };
  return { database: watched, touched };
};

const checked = (...batch: object[]) => {
  const result = checkBatch(JSON.parse(JSON.stringify({ batch })));
  if ('error' in result) throw new Error(result.error);
  return result.value;
};

/** Two writers need two connections, which only a real Postgres has. On other databases these tests check the lock alone. */
export function lockingSuite(running: () => Running, { name }: Driver): void {
  const works: [string, (database: Database) => Promise<unknown>][] = [
    [
      'a batch',
      (database) => {
        const visitor = createVisitor();
        return storeEvents(database, checked(visitor.event('a'), visitor.identify('ada'), visitor.event('b')));
      },
    ],
    ['the end of a journey', async (database) => deleteJourney(database, (await running().journey('any', 'a')).id)],
    [
      'the deletion of all data',
      async (database) => {
        const changes = createChanges();
        const faults = createFaults(changes.announce);
        const app = createInspectApp({ database, faults, changes, closing: new AbortController().signal });
        expect((await app.request('/inspect/data', { method: 'DELETE' })).status).toBe(204);
      },
    ],
  ];

  it.each(works)('%s reads and writes only while it alone holds the writing lock', async (_what, work) => {
    const { database, touched } = watch(running().database);
    await work(database);
    expect(touched).not.toEqual([]);
    expect(touched.filter(({ locks }) => !locks.includes('ExclusiveLock'))).toEqual([]);
    expect(await heldBy(running().database.query)).toEqual([]);
  });

  it('an upsert shares the writing lock until it ends', async () => {
    await running().database.transaction(async (query) => {
      await upsertCustomer(query, { primary_key: 'ada' });
      expect(await heldBy(query)).toEqual(['ShareLock']);
    });
  });

  describe.runIf(name === 'Postgres')('with two connections', () => {
    const waiting = (query: Query) =>
      vi.waitUntil(
        async () => (await query(`select from pg_locks where locktype = 'advisory' and not granted`)).length > 0,
        { interval: 5 },
      );

    it.each<[string, (database: Database) => Promise<unknown>]>([
      ...works,
      ['an upsert', ({ query }) => upsertCustomer(query, { primary_key: 'ada' })],
    ])('%s waits for the batch that another connection stores', async (_what, work) => {
      const { database } = running();
      const order: string[] = [];
      let later: Promise<unknown> | undefined;
      await database.transaction(async (query) => {
        await lockWriting(query);
        later = work(database).then(() => order.push('the later one is stored'));
        await waiting(query);
        order.push('the batch is stored');
      });
      await later;
      expect(order).toEqual(['the batch is stored', 'the later one is stored']);
    });
  });
}
