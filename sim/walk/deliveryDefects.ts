import { MODERN } from '../browser/browser.ts';
import { INVARIANTS } from './checks.ts';
import type { Defect } from './defect.ts';
import { leaves, now, relayed } from './defectPlans.ts';
import { has } from './plan.ts';

/** Known defects that lose events, repeat them, or send them at the wrong time. */
export const deliveryDefects: readonly Defect[] = [
  {
    name: 'after the site has deleted IndexedDB, a page that came back from the back/forward cache does not store its events again',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      34406,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: now, action: { verb: 'offline' } },
        { wait: { ms: 775 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 462 }, action: { verb: 'busyDatabase', ms: 20 } },
        { wait: now, action: { verb: 'clearDatabase' } },
      ],
      { features: { ...MODERN, hasFetchLater: false } },
    ),
    mayShow: (plan, detail) => has(plan, 'clearDatabase') && has(plan, 'back') && detail.startsWith('walk'),
  },
  {
    name: 'direct: what is handed over while the link is not proven is kept, and sent again',
    invariant: INVARIANTS.twice,
    issue: 16,
    plan: relayed(97, [{ wait: { tasks: 0 }, action: { verb: 'stop', tab: 2 } }], {
      theme: 'npm',
      isDirect: true,
      features: { ...MODERN, hasFetchLater: false },
      dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', compress: 'false' },
      hasStub: false,
      npm: { hasOther: true, hasTransport: true },
    }),
    mayShow: ({ isDirect }) => isDirect,
  },
  {
    name: 'a page that comes back from the back/forward cache does not learn that another one has sent its events meanwhile, and counts them as queued',
    invariant: INVARIANTS.idle,
    issue: 16,
    plan: relayed(
      9626,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 4447 }, action: { verb: 'reset', tab: 1 } },
        { wait: { ms: 5 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 1, count: 4, size: 20000 } },
        { wait: { ms: 60 }, action: { verb: 'hide', tab: 0 } },
        { wait: { tasks: 10 }, action: { verb: 'back', tab: 1 } },
        { wait: { ms: 30722 }, action: { verb: 'slowDisk', isSlow: false } },
      ],
      {
        theme: 'plain',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', maxBatchEvents: '5' },
        hasStub: true,
      },
    ),
    mayShow: (plan) => has(plan, 'back'),
  },
  {
    name: 'a page that leaves ends the lease that another tab has just taken, and a third tab sends beside it',
    invariant: INVARIANTS.lease,
    issue: 16,
    plan: relayed(
      88187,
      [
        { wait: { tasks: 0 }, action: { verb: 'reset', tab: 2 } },
        { wait: { tasks: 11 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 3 }, action: { verb: 'open', tab: 2 } },
        { wait: { ms: 24 }, action: { verb: 'navigate', tab: 2 } },
        { wait: { ms: 57 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 2 }, action: { verb: 'network', kind: 'lossy' } },
        { wait: { tasks: 8 }, action: { verb: 'hide', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'navigate', tab: 0 } },
      ],
      {
        theme: 'plain',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew' },
        hasStub: false,
      },
    ),
    mayShow: leaves,
  },
];
