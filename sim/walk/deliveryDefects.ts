import { MODERN } from '../browser/browser.ts';
import { INVARIANTS } from './checks.ts';
import type { Defect } from './defect.ts';
import { direct, hasForeign, keyed, leaves, now, relayed } from './defectPlans.ts';
import { has, hasRefusals } from './plan.ts';

/** Known defects that lose events, repeat them, or send them at the wrong time. */
export const deliveryDefects: readonly Defect[] = [
  {
    name: 'a foreign 200 page counts as delivered',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      42,
      [
        { wait: now, action: { verb: 'network', kind: 'foreign' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 389 }, action: { verb: 'open', tab: 2 } },
      ],
      { features: { ...MODERN, hasFetchLater: false } },
    ),
    mayShow: hasForeign,
  },
  {
    name: 'an event of an earlier page that is rejected is reported as dropped by no page',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      317,
      [
        { wait: now, action: { verb: 'service', status: 413, takes: false } },
        { wait: now, action: { verb: 'track', tab: 0, count: 3, name: 'walk' } },
        { wait: { ms: 24_330 }, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'close', tab: 2 } },
        { wait: { ms: 3875 }, action: { verb: 'setProperties', tab: 2 } },
      ],
      { features: { ...MODERN, hasFetchLater: false }, hasStub: false },
    ),
    mayShow: hasRefusals,
  },
  {
    name: 'direct: what a page has both stored and journaled is sent by one tab and again by another',
    invariant: INVARIANTS.twice,
    issue: 16,
    plan: relayed(
      70,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: now, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 33_502 }, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
      ],
      direct,
    ),
    mayShow: ({ isDirect }) => isDirect,
  },
  {
    name: 'a page that leaves while it asks for the lease releases the lease of another tab',
    invariant: INVARIANTS.lease,
    issue: 16,
    plan: relayed(
      131,
      [
        { wait: now, action: { verb: 'flush', tab: 0 } },
        { wait: { tasks: 8 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 81 }, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: { tasks: 7 }, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
      ],
      { ...direct, features: { ...direct.features, hasLocks: false }, dataset: keyed, hasStub: true },
    ),
    mayShow: leaves,
  },
  {
    name: 'a page that comes back from the back/forward cache during a request sends before the pause of its answer is over',
    invariant: INVARIANTS.retryAfter,
    issue: 16,
    plan: relayed(
      24_672,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: { ms: 2 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 248 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: { tasks: 7 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'poison' } },
        { wait: now, action: { verb: 'track', tab: 2, count: 4, name: 'walk' } },
        { wait: { ms: 746 }, action: { verb: 'restartRelay' } },
        { wait: { ms: 898 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 48 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { tasks: 9 }, action: { verb: 'restartRelay' } },
        { wait: { ms: 398 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'ann' } },
        { wait: { tasks: 11 }, action: { verb: 'back', tab: 1 } },
      ],
      { features: { ...MODERN, hasChannel: false } },
    ),
    mayShow: (plan) => has(plan, 'back'),
  },
  {
    name: 'events are handed over to a foreign 200 page: the next event arrives before older ones, which are retried',
    invariant: INVARIANTS.pages,
    issue: 16,
    plan: relayed(
      39236,
      [
        { wait: now, action: { verb: 'back', tab: 2 } },
        { wait: { tasks: 5 }, action: { verb: 'identify', tab: 2, person: 'bob' } },
        { wait: now, action: { verb: 'network', kind: 'slow' } },
        { wait: { tasks: 11 }, action: { verb: 'track', tab: 2, count: 60, name: 'walk' } },
        { wait: { ms: 21675 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
        { wait: { ms: 1040 }, action: { verb: 'open', tab: 0 } },
        { wait: now, action: { verb: 'network', kind: 'foreign' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 763 }, action: { verb: 'online' } },
        { wait: { tasks: 1 }, action: { verb: 'network', kind: 'foreign' } },
      ],
      {
        theme: 'storage',
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', compress: 'false', maxQueuedEvents: '80' },
      },
    ),
    mayShow: hasForeign,
  },
  {
    name: 'an activated page takes the tab name of a page that has left, and sends during the request of another tab',
    invariant: INVARIANTS.lease,
    issue: 16,
    plan: relayed(
      41289,
      [
        { wait: now, action: { verb: 'duplicate', tab: 0 } },
        { wait: now, action: { verb: 'network', kind: 'hangs' } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'prerender', tab: 2, count: 1 } },
        { wait: { ms: 703 }, action: { verb: 'activate', tab: 0 } },
        { wait: now, action: { verb: 'hide', tab: 2 } },
        { wait: now, action: { verb: 'activate', tab: 2 } },
      ],
      {
        theme: 'pages',
        features: { ...MODERN, hasFetchLater: false, hasThrottling: true },
        dataset: { baseUrl: '/clew', compress: 'false' },
      },
    ),
    mayShow: (plan) => has(plan, 'activate', 'duplicate'),
  },
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
    name: 'direct: of two departures in a row, the second loses what the first had no room to hand over',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      79289,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 173 }, action: { verb: 'back', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 4, size: 20000 } },
        { wait: { tasks: 9 }, action: { verb: 'back', tab: 1 } },
        { wait: { tasks: 2 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
      ],
      {
        isDirect: true,
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key' },
        hasStub: false,
      },
    ),
    mayShow: (plan, detail) => plan.isDirect && has(plan, 'back') && detail.startsWith('walk'),
  },
  {
    name: 'a page leaves with the lease while its transaction runs: pages that are open wait until the lease ends',
    invariant: INVARIANTS.idle,
    issue: 16,
    plan: relayed(
      87664,
      [
        { wait: now, action: { verb: 'reset', tab: 0 } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 196 }, action: { verb: 'freeze', tab: 0 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { tasks: 11 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { ms: 0 }, action: { verb: 'close', tab: 0 } },
        { wait: { ms: 15345 }, action: { verb: 'prerender', tab: 1, count: 0 } },
      ],
      {
        theme: 'pages',
        isDirect: true,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false, hasThrottling: true },
        dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', compress: 'false' },
        hasStub: false,
      },
    ),
    mayShow: leaves,
  },
];
