import { afterEach, expect, it, vi } from 'vitest';
import { createEngine } from '../../demo/collector/database.ts';
import { writeStatistics } from './running.ts';

afterEach(() => vi.useRealTimers());

it('after its start, Postgres in the process has no timer, which would run every millisecond on another clock', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const engine = await createEngine(undefined, process.env.CLEW_DATABASE_TEMPLATE);
  await engine.query('select 1');
  const open = vi.getTimerCount();
  await engine.close();
  expect([open, vi.getTimerCount()]).toEqual([0, 0]);
});

it('once its statistics are written, Postgres runs its timer once at most on any clock', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  const engine = await createEngine(undefined, process.env.CLEW_DATABASE_TEMPLATE);
  await engine.query('create table changed (n int)');
  for (let n = 0; n < 5; n++) await engine.query('insert into changed values (1)');
  expect(vi.getTimerCount()).toBe(1);
  await writeStatistics((sql) => engine.query(sql));
  vi.setSystemTime(Date.now() - 300 * 86_400_000);
  await vi.advanceTimersByTimeAsync(60_000);
  const open = vi.getTimerCount();
  await engine.close();
  expect(open).toBe(0);
});
