// @module-tag promise
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCollector } from '../../demo/collector/collector.ts';
import type { DatabaseOptions } from '../../demo/collector/database.ts';
import { storeEvents } from '../../demo/collector/ingest.ts';
import { countAll, listCustomers, listEvents, listJourneys } from '../../demo/collector/listings.ts';
import { choosePrimaryKeyAttribute, readPrimaryKeyAttribute } from '../../demo/collector/settings.ts';
import { checkBatch } from '../../demo/collector/validation.ts';
import { embedded } from './drivers.ts';
import { createVisitor, KEY } from './running.ts';

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'clew-')), 'not', 'there', 'yet');
});
afterEach(() => rm(join(dir, '../../..'), { recursive: true, force: true }));

const open = (options: DatabaseOptions = {}) => createCollector({ ...options, apiKey: KEY, dataDir: dir });

describe('a collector on disk', () => {
  it('is seeded on its first start only, and keeps stored data after reopening', async () => {
    const first = await open();
    const { query } = first.database;
    expect(await readPrimaryKeyAttribute(query)).toBe('email');
    const seeded = await listJourneys(query, null);
    expect(seeded).toEqual([
      {
        id: expect.any(String),
        name: 'Welcome to Pro',
        event: 'signup',
        filter: { plan: 'pro' },
        count: 0,
        firings: [],
      },
      { id: expect.any(String), name: 'Cart reminder', event: 'cart_viewed', filter: null, count: 0, firings: [] },
    ]);
    const visitor = createVisitor();
    const batch = [visitor.identify('ada'), visitor.event('signup', { plan: 'pro' })];
    const checked = checkBatch({ batch });
    await storeEvents(first.database, 'value' in checked ? checked.value : []);
    await first.app.request(`/inspect/journeys/${seeded[1]?.id}`, { method: 'DELETE' });
    await choosePrimaryKeyAttribute(query, null);
    await expect(open()).rejects.toThrow(`is in use by process ${process.pid}`);
    await Promise.all([first.close(), first.close()]);

    // The template has no effect, because it is for new folders only.
    const { options } = await embedded.prepare();
    const second = await open(options);
    const again = second.database.query;
    expect(await readPrimaryKeyAttribute(again)).toBeNull();
    expect(await countAll(again)).toEqual({ events: 2, customers: 1, journeys: 1, firings: 1 });
    expect((await listEvents(again, null)).map(({ uuid }) => uuid)).toEqual(batch.map(({ uuid }) => uuid));
    expect(await listCustomers(again, null)).toMatchObject([{ primaryKey: 'ada' }]);
    expect(await listJourneys(again, null)).toMatchObject([
      { name: 'Welcome to Pro', firings: [{ primaryKey: 'ada' }] },
    ]);
    await second.close();
    // The time-out is long, because the test creates an embedded Postgres without a template.
  }, 120_000);
});
