import { MODERN } from '../browser/browser.ts';
import { direct, now, relayed, small } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';
import type { Step } from './plan.ts';

const burst: Step = { wait: now, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } };

/** Walks that stored too much or too little. */
export const fixedStorage: readonly FixedWalk[] = [
  {
    name: 'a page whose database is slow sends the rest of its events once the database answers, although nothing is tracked',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 100 }, action: { verb: 'offline' } },
        { wait: { ms: 10 }, action: { verb: 'track', tab: 0, count: 8, name: 'walk', size: 20_000 } },
        { wait: { ms: 50 }, action: { verb: 'busyDatabase', ms: 8000 } },
        { wait: { ms: 10 }, action: { verb: 'online' } },
        { wait: { ms: 630_000 }, action: { verb: 'slowDisk', isSlow: false } },
      ],
      {
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', compress: 'false' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'with a full database, a page deletes no journal whose events do not all fit into its own',
    plan: relayed(
      5_106_631,
      [
        { wait: { tasks: 0 }, action: { verb: 'hide', tab: 0 } },
        { wait: { tasks: 3 }, action: { verb: 'flush', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'fillDisk', isFull: true } },
        { wait: { tasks: 5 }, action: { verb: 'track', tab: 2, count: 2, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'poison' } },
        { wait: { tasks: 4 }, action: { verb: 'network', kind: 'hangs' } },
        { wait: { tasks: 9 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 32893 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { tasks: 7 }, action: { verb: 'limitStorage', most: 3000 } },
        { wait: { tasks: 8 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: { ms: 4 }, action: { verb: 'close', tab: 2 } },
      ],
      {
        theme: 'storage',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', maxQueuedEvents: '80' },
      },
    ),
  },
  {
    name: 'a page that was refused before the back/forward cache deletes no event that another page has stored since',
    plan: relayed(
      300_666,
      [
        { wait: now, action: { verb: 'consent', tab: 2, isGranted: true } },
        { wait: now, action: { verb: 'track', tab: 1, count: 3, name: 'walk' } },
        { wait: now, action: { verb: 'track', tab: 0, count: 3, name: 'walk' } },
        { wait: { ms: 2690 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 8 }, action: { verb: 'service', status: 503, takes: false } },
        { wait: { tasks: 5 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 2 }, action: { verb: 'busyDatabase', ms: 200 } },
        { wait: { tasks: 5 }, action: { verb: 'network', kind: 'lossy' } },
        { wait: { tasks: 9 }, action: { verb: 'flush', tab: 2 } },
        { wait: { tasks: 9 }, action: { verb: 'refuseAndLeave', tab: 0 } },
        { wait: { tasks: 8 }, action: { verb: 'service', status: 500, takes: false, retryAfter: '30' } },
        { wait: { tasks: 1 }, action: { verb: 'hide', tab: 0 } },
        { wait: { tasks: 6 }, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 19430 }, action: { verb: 'consent', tab: 1, isGranted: true } },
        { wait: { ms: 21 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 6 }, action: { verb: 'offline' } },
        { wait: now, action: { verb: 'back', tab: 0 } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasFetchLater: false },
        dataset: {
          baseUrl: '/clew',
          flushInterval: '200',
          maxBatchEvents: '5',
          compress: 'false',
          consent: 'required',
        },
      },
    ),
  },
  {
    name: 'while IndexedDB is shut, only one page has an event in localStorage',
    plan: relayed(
      697,
      [
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'service', status: 413, takes: false } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 1, name: 'poison' } },
        { wait: { tasks: 0 }, action: { verb: 'hangOpens', ms: undefined } },
        { wait: { tasks: 0 }, action: { verb: 'navigate', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'hangOpens', ms: 0 } },
        { wait: { tasks: 0 }, action: { verb: 'fillDisk', isFull: true } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
        { wait: { ms: 3 }, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 4 }, action: { verb: 'fillDisk', isFull: true } },
      ],
      {
        theme: 'storage',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', maxQueuedEvents: '80' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'with localStorage full, a tab learns from the message of another one who is identified',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 6000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 6000 }, action: { verb: 'limitStorage', most: 0 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 6000 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      ],
      { theme: 'storage', hasStub: false },
    ),
  },
  {
    name: 'a $identify that is dropped as full is sent by the next identify() with the same key',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'offline' } },
        { wait: { ms: 6000 }, action: { verb: 'track', tab: 0, count: 100, name: 'walk' } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 6000 }, action: { verb: 'online' } },
        { wait: { ms: 30_000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
      ],
      { theme: 'storage', dataset: small, hasStub: false },
    ),
  },
  {
    name: 'an event of an earlier page that is rejected is reported as dropped',
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
  },
  {
    name: 'direct: what a page has both stored and journaled is sent once',
    plan: relayed(
      70,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: now, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 33_502 }, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
      ],
      direct,
    ),
  },
  {
    name: 'a refusal leaves the lease to a tab that is waiting for an answer',
    plan: relayed(
      2957,
      [
        { wait: { tasks: 0 }, action: { verb: 'consent', tab: 1, isGranted: true } },
        { wait: { tasks: 0 }, action: { verb: 'network', kind: 'hangs' } },
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 4420 }, action: { verb: 'refuseAndGrant', tab: 2 } },
        { wait: { tasks: 6 }, action: { verb: 'service', status: undefined, takes: false } },
      ],
      { theme: 'consent', dataset: { baseUrl: '/clew', compress: 'false', consent: 'required' }, hasStub: false },
    ),
  },
  {
    name: 'a page that crashes before its database has answered leaves what it has tracked while it was prerendered',
    plan: relayed(
      202_936,
      [
        { wait: now, action: { verb: 'prerender', tab: 1, count: 1 } },
        { wait: now, action: { verb: 'activate', tab: 1 } },
        { wait: { tasks: 3 }, action: { verb: 'crash', tab: 2 } },
      ],
      { theme: 'pages', hasStub: false },
    ),
  },
  {
    name: 'before its database has answered a page holds no more events than maxQueuedEvents',
    plan: relayed(450, [burst, burst, { wait: now, action: { verb: 'flush', tab: 0 } }], {
      dataset: small,
      theme: 'storage',
      hasStub: false,
    }),
  },
  {
    name: 'a page adopts no more than maxQueuedEvents of what an earlier one has journaled',
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
  },
  {
    name: 'a page that crashes before its database has answered leaves no more in localStorage than maxQueuedEvents',
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
  },
  {
    name: 'an event that was journaled and then dropped as full is not sent by the next page',
    plan: relayed(
      450,
      [burst, burst, { wait: { tasks: 1 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } }],
      {
        dataset: small,
        theme: 'storage',
      },
    ),
  },
  {
    name: 'while IndexedDB is shut, journaled events are adopted once',
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
  },
  {
    name: 'events that a page has journaled one by one are handed over in order',
    plan: relayed(
      301164,
      [
        { wait: { tasks: 0 }, action: { verb: 'trickle', tab: 1, ms: 41564 } },
        { wait: { ms: 22 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 1673 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 4, name: 'walk' } },
        { wait: { tasks: 10 }, action: { verb: 'open', tab: 0 } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 38 }, action: { verb: 'trackOther', tab: 2, count: 3 } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
      ],
      {
        theme: 'npm',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5' },
        hasStub: false,
        npm: { hasOther: false, hasTransport: true },
      },
    ),
  },
  {
    name: 'a page from the back/forward cache learns that another one has sent its events, also those that only the store had',
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
  },
  {
    name: 'a page that comes back and leaves in the millisecond in which another one takes in its journal loses nothing',
    plan: relayed(
      35,
      [
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 0 } },
        { wait: { ms: 35027 }, action: { verb: 'open', tab: 0 } },
        { wait: { tasks: 9 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 1, name: 'poison' } },
        { wait: { ms: 381 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 11 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { tasks: 3 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 2 }, action: { verb: 'back', tab: 2 } },
        { wait: { tasks: 3 }, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'service', status: 404, takes: false } },
        { wait: { ms: 14333 }, action: { verb: 'navigate', tab: 1 } },
      ],
      {
        theme: 'plain',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', compress: 'false' },
        hasStub: true,
      },
    ),
  },
  {
    name: 'a full queue: the page reports properties for which there is no room',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 2000 }, action: { verb: 'offline' } },
        { wait: now, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } },
        { wait: now, action: { verb: 'track', tab: 0, count: 60, name: 'walk' } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
      ],
      { dataset: small, theme: 'storage', hasStub: false },
    ),
  },
  {
    // Seed 14003334: only the simulator's check was wrong.
    name: 'a full queue: the page reports a `$identify` for which there is no room',
    plan: relayed(
      1,
      [
        burst,
        { wait: now, action: { verb: 'offline' } },
        burst,
        { wait: { ms: 4000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
      ],
      { dataset: small, theme: 'storage', hasStub: false },
    ),
  },
  {
    name: 'without a database, events that trickle in cause one request per flushInterval',
    plan: relayed(
      15_076_667,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 10_477 }, action: { verb: 'flush', tab: 2 } },
        { wait: now, action: { verb: 'hide', tab: 1 } },
        { wait: { ms: 9 }, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 148 }, action: { verb: 'clearDatabase' } },
        { wait: now, action: { verb: 'identifyInTurn', tab: 0, person: 'bob', ms: 459 } },
        { wait: { ms: 630 }, action: { verb: 'trickle', tab: 2, ms: 23_739 } },
      ],
      {
        theme: 'npm',
        features: { ...MODERN, hasLocks: false },
        dataset: { baseUrl: '/clew', compress: 'false' },
        hasStub: false,
        npm: { hasOther: true, hasTransport: true },
      },
    ),
  },
  {
    name: 'with a full disk and a full localStorage, a page that leaves loses its reset()',
    plan: relayed(
      30_016_588,
      [
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'limitStorage', most: 0 } },
        { wait: { ms: 36_355 }, action: { verb: 'fillDisk', isFull: true } },
        { wait: now, action: { verb: 'reset', tab: 2 } },
        { wait: { ms: 19_189 }, action: { verb: 'navigate', tab: 2 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
      ],
      {
        theme: 'storage',
        dataset: { ...small, compress: 'false' },
      },
    ),
  },
  {
    name: 'with a clock set ahead by years, the $identify of an earlier call expires',
    plan: relayed(
      34_013_946,
      [
        { wait: now, action: { verb: 'network', kind: 'foreign' } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'bob' } },
        { wait: now, action: { verb: 'setClock', ms: 63_072_000_000 } },
        { wait: { ms: 4729 }, action: { verb: 'identify', tab: 2, person: 'bob' } },
      ],
      { theme: 'storage', dataset: small, hasStub: false },
    ),
  },
  {
    name: 'where localStorage has no room for the epoch of the record, the guess there is no sign of a refusal',
    plan: relayed(
      36_033_814,
      [
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 1 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 2 }, action: { verb: 'limitStorage', most: 300 } },
        { wait: { tasks: 7 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: now, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: { ms: 773 }, action: { verb: 'back', tab: 1 } },
        { wait: { tasks: 5 }, action: { verb: 'back', tab: 0 } },
        { wait: now, action: { verb: 'closeConnections' } },
        { wait: { tasks: 5 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 6 }, action: { verb: 'closeConnections' } },
      ],
      { theme: 'storage', dataset: { ...small, maxQueuedEvents: '80' }, features: { ...MODERN, hasFetchLater: false } },
    ),
  },
  {
    name: 'after the browser has closed its database, a page counts no stored event twice',
    plan: relayed(
      2_007_107,
      [
        { wait: { tasks: 0 }, action: { verb: 'offline' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 60, name: 'walk' } },
        { wait: { ms: 2455 }, action: { verb: 'closeConnections' } },
        { wait: { tasks: 0 }, action: { verb: 'flush', tab: 1 } },
        { wait: { ms: 908 }, action: { verb: 'reset', tab: 0 } },
      ],
      {
        theme: 'storage',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', compress: 'false', maxQueuedEvents: '80' },
      },
    ),
  },
  {
    name: "a page that takes in an open page's journal does not delete what that page has written since",
    plan: relayed(
      20_744,
      [
        { wait: now, action: { verb: 'identifyAndLeave', tab: 2, person: 'ann' } },
        { wait: now, action: { verb: 'fillDisk', isFull: true } },
        { wait: { ms: 37_707 }, action: { verb: 'busyDatabase', ms: 200 } },
        { wait: now, action: { verb: 'service', status: 503, takes: false } },
        { wait: { tasks: 7 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 6 }, action: { verb: 'fillDisk', isFull: false } },
        { wait: now, action: { verb: 'back', tab: 1 } },
        { wait: { ms: 1267 }, action: { verb: 'refuseStorage', refusal: 'all' } },
      ],
      {
        theme: 'storage',
        features: { ...MODERN, hasLag: true },
        dataset: { ...small, flushInterval: '200' },
      },
    ),
  },
  {
    name: 'a page with a full disk that takes in the journal of an open page does not delete what that page has written since',
    plan: relayed(
      60_023_768,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'fillDisk', isFull: true } },
        { wait: now, action: { verb: 'network', kind: 'hangs' } },
        { wait: { ms: 30_839 }, action: { verb: 'hide', tab: 1 } },
        { wait: now, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
        { wait: { ms: 4775 }, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'back', tab: 1 } },
        { wait: { ms: 13 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      ],
      {
        theme: 'storage',
        features: { ...MODERN, hasLag: true },
        dataset: { ...small, maxBatchEvents: '5' },
      },
    ),
  },
];
