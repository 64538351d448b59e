import { afterEach, expect, it, vi } from 'vitest';
import { createEngine } from '../../demo/collector/database.ts';

afterEach(() => vi.useRealTimers());

it('Postgres in the process has no timer, which would run every millisecond on another clock', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const engine = await createEngine(undefined, process.env.CLEW_DATABASE_TEMPLATE);
  await engine.query('select 1');
  const open = vi.getTimerCount();
  await engine.close();
  expect([open, vi.getTimerCount()]).toEqual([0, 0]);
});
