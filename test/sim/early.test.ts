// @module-tag promise
import { expect, it } from 'vitest';
import { MODERN } from '../../sim/browser/browser.ts';
import { loadScripts } from '../../sim/bundle.ts';
import { now, relayed } from '../../sim/walk/breakPlans.ts';
import { runPlan } from '../../sim/walk/run.ts';

it('accepts that properties stay stored whose `$identify` was dropped: they wait for the next `identify()`', async () => {
  const plan = relayed(
    2_007_702,
    [
      { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
      { wait: now, action: { verb: 'setProperties', tab: 2 } },
      { wait: { tasks: 3 }, action: { verb: 'navigate', tab: 1 } },
      { wait: now, action: { verb: 'network', kind: 'foreign' } },
      { wait: { ms: 158 }, action: { verb: 'reset', tab: 0 } },
      { wait: { ms: 3 }, action: { verb: 'kill' } },
      { wait: now, action: { verb: 'network', kind: 'fair' } },
      { wait: now, action: { verb: 'service', status: 413, takes: false } },
      { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
      { wait: { ms: 2649 }, action: { verb: 'open', tab: 1 } },
    ],
    {
      theme: 'tokens',
      features: { ...MODERN, hasLocks: false, hasFetchLater: false },
      dataset: { baseUrl: '/clew', compress: 'false' },
      hasStub: false,
      isSigned: true,
      hasTokens: true,
      npm: { hasOther: false, hasTransport: false },
    },
  );
  const lines: string[] = [];
  const { broken } = await runPlan(await loadScripts(), plan, (line) => lines.push(line));
  expect(broken).toEqual([]);
  expect(lines.filter((line) => line.includes('dropped : rejected'))).toHaveLength(1);
});
