import { MODERN } from '../../browser/browser.ts';
import { INVARIANTS } from '../checks.ts';
import type { Defect } from '../defect.ts';
import { changesPerson, now, relayed, small, tracksMany } from '../defectPlans.ts';
import type { Step } from '../plan.ts';

const burst: Step = { wait: now, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } };

/** Defects that walks of the theme `storage` have found. */
export const storageDefects: readonly Defect[] = [
  {
    name: 'before its database has answered a page holds more events than maxQueuedEvents',
    invariant: INVARIANTS.bounds,
    issue: 16,
    plan: relayed(450, [burst, burst, { wait: now, action: { verb: 'flush', tab: 0 } }], {
      dataset: small,
      theme: 'storage',
      hasStub: false,
    }),
    mayShow: tracksMany,
  },
  {
    name: 'a page adopts what an earlier one has journaled beyond maxQueuedEvents',
    invariant: INVARIANTS.bounds,
    issue: 16,
    plan: relayed(
      21_640,
      [
        { wait: now, action: { verb: 'refuseStorage', refusal: 'database' } },
        burst,
        { wait: now, action: { verb: 'close', tab: 0 } },
        { wait: { ms: 29 }, action: { verb: 'track', tab: 1, count: 60, name: 'walk' } },
        { wait: { tasks: 5 }, action: { verb: 'navigate', tab: 2 } },
      ],
      { dataset: small, theme: 'storage', hasStub: false },
    ),
    mayShow: tracksMany,
  },
  {
    name: 'a page that crashes before its database has answered leaves more in localStorage than maxQueuedEvents',
    invariant: INVARIANTS.stored,
    issue: 16,
    plan: relayed(
      20_911,
      [
        burst,
        burst,
        { wait: now, action: { verb: 'crash', tab: 0 } },
        { wait: now, action: { verb: 'flush', tab: 0 } },
      ],
      { dataset: small, theme: 'storage', hasStub: false },
    ),
    mayShow: tracksMany,
  },
  {
    name: 'an event that was journaled and then dropped as full is sent by the next page',
    invariant: INVARIANTS.revived,
    issue: 16,
    plan: relayed(
      450,
      [burst, burst, { wait: { tasks: 1 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } }],
      {
        dataset: small,
        theme: 'storage',
      },
    ),
    mayShow: tracksMany,
  },
  {
    name: 'a $identify that is dropped as full is never sent again',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(3282, [burst, burst, { wait: now, action: { verb: 'identify', tab: 2, person: 'bob' } }], {
      dataset: { ...small, maxBatchEvents: '5' },
      theme: 'storage',
      hasStub: false,
    }),
    mayShow: (plan, detail) => tracksMany(plan) && changesPerson(plan) && detail.startsWith('$identify'),
  },
  {
    name: 'while IndexedDB is shut, each page that adopts journaled events journals them once more',
    invariant: INVARIANTS.stored,
    issue: 16,
    plan: relayed(
      97207,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: now, action: { verb: 'service', status: 429, takes: true } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 4, size: 20000 } },
        { wait: { ms: 789 }, action: { verb: 'navigate', tab: 0 } },
        { wait: now, action: { verb: 'back', tab: 1 } },
        { wait: { ms: 15155 }, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
      ],
      {
        theme: 'storage',
        features: { ...MODERN, hasLocks: false },
        dataset: {
          baseUrl: '/clew',
          flushInterval: '200',
          maxBatchEvents: '5',
          compress: 'false',
          maxQueuedEvents: '80',
        },
        hasStub: false,
      },
    ),
    mayShow: (plan, detail) => plan.theme === 'storage' && detail.includes('characters'),
  },
];
