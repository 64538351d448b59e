// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { MODERN } from '../../sim/browser/browser.ts';
import type { Page } from '../../sim/browser/page.ts';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';
import { accountsOf } from '../../sim/walk/npm/app.ts';
import type { Action } from '../../sim/walk/plan.ts';
import { createStage } from '../../sim/walk/stage.ts';
import { act } from '../../sim/walk/verbs.ts';
import { drainMicrotasks } from '../../sim/world/scheduler.ts';
import { createWorld } from '../../sim/world/world.ts';
import { times } from '../recorder/items.ts';

const MINUTE = 60_000;
let scripts: Scripts;
beforeAll(async () => {
  scripts = await loadScripts();
});

/** A page tracks a full batch on a lossy network, which is fair 10 s later. Returns how many events are delivered within the next minute. */
const deliver = async (seed: number) => {
  const world = createWorld(seed);
  const stage = createStage(world, scripts, {
    seed,
    theme: 'plain',
    isDirect: false,
    features: MODERN,
    dataset: { baseUrl: '/clew', flushInterval: `${10 * MINUTE}`, maxBatchEvents: '5' },
    hasStub: false,
    steps: [],
  });
  const perform = async (action: Action) => {
    act(stage, action);
    await drainMicrotasks();
  };
  const run = async (ms: number) => {
    const end = world.scheduler.now() + ms;
    while (await world.scheduler.step(end));
    world.scheduler.skipTo(end);
  };
  await perform({ verb: 'network', kind: 'lossy' });
  await perform({ verb: 'open', tab: 0 });
  await run(1000);
  await perform({ verb: 'track', tab: 0, count: 5, name: 'walk' });
  await run(10_000);
  await perform({ verb: 'network', kind: 'fair' });
  await run(MINUTE);
  const [account] = accountsOf(stage.tabs[0]?.page as Page);
  return account?.stats.delivered;
};

it('a page tries again when a back-off ends, however long its flush interval is', async () => {
  const late = [];
  for (const seed of times(150, (n) => n)) if ((await deliver(seed)) !== 5) late.push(seed);
  expect(late).toEqual([]);
});
