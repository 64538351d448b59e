import { MODERN } from '../browser/browser.ts';
import { exceedsMemory, leaves, now, relayed } from './breakPlans.ts';
import { INVARIANTS } from './checks.ts';
import { REPEATED } from './directRepeats.ts';
import type { KnownBreak } from './knownBreak.ts';
import { has } from './plan.ts';

/** Known breaks that repeat events, or send them at the wrong time or in another order. */
export const deliveryBreaks: readonly KnownBreak[] = [
  {
    name: 'direct: what is handed over while the link is not proven is kept, and sent again',
    invariant: INVARIANTS.twice,
    source: { docs: 'Without a relay, link not proven:' },
    plan: relayed(97, [{ wait: { tasks: 0 }, action: { verb: 'stop', tab: 2 } }], {
      theme: 'npm',
      isDirect: true,
      features: { ...MODERN, hasFetchLater: false },
      dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', compress: 'false' },
      hasStub: false,
      npm: { hasOther: true, hasTransport: true },
    }),
    mayShow: ({ isDirect }, detail) => isDirect && Object.values(REPEATED).some((why) => detail.endsWith(why)),
  },
  {
    name: 'a page that leaves ends the lease that another tab has just taken, and a third tab sends beside it',
    invariant: INVARIANTS.lease,
    source: { docs: 'Without a relay, two tabs:' },
    plan: relayed(
      1,
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
  {
    name: 'a page whose database was closed in the back/forward cache counts an event as queued that another page has ended',
    invariant: INVARIANTS.queued,
    source: { issue: 14 },
    plan: relayed(
      23412,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 4532 }, action: { verb: 'open', tab: 1 } },
        { wait: now, action: { verb: 'reset', tab: 1 } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'poison' } },
        { wait: { ms: 1919 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
        { wait: { ms: 10190 }, action: { verb: 'close', tab: 1 } },
        { wait: now, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: now, action: { verb: 'back', tab: 2 } },
      ],
      {
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
      },
    ),
    mayShow: (plan) => exceedsMemory(plan) && has(plan, 'back'),
  },
];
