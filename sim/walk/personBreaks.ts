import { MODERN } from '../browser/browser.ts';
import { changesPerson, hasTwoPages, hasTwoPersons, leaves, relayed } from './breakPlans.ts';
import { EARLY, INVARIANTS } from './checks.ts';
import { RESENT } from './identityChecks.ts';
import type { KnownBreak } from './knownBreak.ts';
import { has } from './plan.ts';
import { UNDONE } from './unsaved.ts';

/** Known breaks that mix up two people, or identify a person twice. */
export const personBreaks: readonly KnownBreak[] = [
  {
    name: 'a SIGKILL takes the last seconds of localStorage: a page that leaves before its database has answered identifies another person on the same visitor id',
    invariant: INVARIANTS.person,
    source: { docs: 'SIGKILL after `identify()` or `reset()`:' },
    plan: relayed(
      1,
      [
        { wait: { tasks: 0 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { ms: 19329 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 10 }, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
        { wait: { tasks: 0 }, action: { verb: 'kill' } },
        { wait: { tasks: 0 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'ann' } },
      ],
      {
        isDirect: true,
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key' },
      },
    ),
    mayShow: (_plan, detail) => detail.endsWith(UNDONE),
  },
  {
    name: 'a SIGKILL takes an identify(), and its $identify is not stored or expires: an event of one person goes to the other',
    invariant: INVARIANTS.logout,
    source: { docs: 'SIGKILL after `identify()` or `reset()`:' },
    plan: relayed(
      910_855,
      [
        { wait: { tasks: 0 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { tasks: 7 }, action: { verb: 'closeConnections' } },
        { wait: { ms: 16 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 3 }, action: { verb: 'network', kind: 'fair' } },
        { wait: { tasks: 4 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 4 }, action: { verb: 'identifyAndLeave', tab: 0, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'kill' } },
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 51 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: { tasks: 0 }, action: { verb: 'setClock', ms: 63_072_000_000 } },
      ],
      { theme: 'storage', dataset: { baseUrl: '/clew', maxQueuedEvents: '80' } },
    ),
    mayShow: (_plan, detail) => detail.endsWith(UNDONE),
  },
  {
    name: 'two tabs within the time in which a page asks its database: an event of one goes to the person of the other',
    invariant: INVARIANTS.logout,
    source: { docs: 'Two tabs within a moment:' },
    plan: relayed(
      2493,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 39808 }, action: { verb: 'slowDisk', isSlow: false } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 1, count: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 10 }, action: { verb: 'reset', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
      ],
      { features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false } },
    ),
    mayShow: (plan, detail) => hasTwoPages(plan) && changesPerson(plan) && detail.endsWith(EARLY),
  },
  {
    name: 'localStorage is full, and IndexedDB is refused for one of two tabs: each identifies a person in the same millisecond',
    invariant: INVARIANTS.person,
    source: { docs: 'A full localStorage:' },
    plan: relayed(
      35736,
      [
        { wait: { tasks: 0 }, action: { verb: 'limitStorage', most: 420 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'refuseStorage', refusal: 'database' } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { ms: 4995 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
      ],
      {
        theme: 'storage',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', maxQueuedEvents: '80' },
        hasStub: true,
      },
    ),
    mayShow: (plan) => hasTwoPersons(plan) && has(plan, 'limitStorage') && has(plan, 'refuseStorage'),
  },
  {
    name: 'localStorage is full: a page that leaves in the task of identify() while it stores something else loses the change',
    invariant: INVARIANTS.person,
    source: { docs: 'A full localStorage:' },
    plan: relayed(
      202378,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'limitStorage', most: 0 } },
        { wait: { ms: 2280 }, action: { verb: 'fillDisk', isFull: false } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { ms: 2703 }, action: { verb: 'identifyAndLeave', tab: 2, person: 'ann' } },
      ],
      {
        theme: 'storage',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', maxQueuedEvents: '80' },
        hasStub: false,
      },
    ),
    mayShow: (plan) => hasTwoPersons(plan) && has(plan, 'limitStorage'),
  },
  {
    name: 'two tabs identify two people at the same moment: neither sees the other yet, and both identify on one visitor id',
    invariant: INVARIANTS.person,
    source: { docs: 'Two tabs within a few ms:' },
    plan: relayed(
      2,
      [
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 3000 }, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 3000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
      ],
      { features: { ...MODERN, hasLag: true }, hasStub: false },
    ),
    mayShow: (plan) => !!plan.features.hasLag && hasTwoPersons(plan),
  },
  {
    name: 'with a cookie, an event that waits for the database goes to the person whom another tab identifies meanwhile',
    invariant: INVARIANTS.logout,
    source: { docs: 'Two tabs within a moment:' },
    plan: relayed(
      5409,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'service', status: 500, takes: false } },
        { wait: { tasks: 0 }, action: { verb: 'reset', tab: 1 } },
        { wait: { ms: 2489 }, action: { verb: 'show', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 0 } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: { tasks: 10 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 598 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
      ],
      {
        features: { ...MODERN, hasLocks: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', cookieDomain: 'auto' },
        hasStub: false,
      },
    ),
    mayShow: (plan) => !!plan.dataset.cookieDomain && hasTwoPages(plan) && changesPerson(plan),
  },
  {
    name: 'a page logs out and leaves before its database has answered: another page, just back, does not see that yet, and goes on as before',
    invariant: INVARIANTS.logout,
    source: { docs: 'Two tabs within a few ms:' },
    plan: relayed(
      16_464,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'close', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { tasks: 10 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { tasks: 10 }, action: { verb: 'reset', tab: 0 } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 0 } },
        { wait: { ms: 26_415 }, action: { verb: 'back', tab: 0 } },
      ],
      {
        features: { ...MODERN, hasLag: true },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5' },
      },
    ),
    mayShow: (plan) => !!plan.features.hasLag && changesPerson(plan) && leaves(plan),
  },
  {
    name: 'two tabs learn that the relay has refused a $identify, and each sends it again with the newer token',
    invariant: INVARIANTS.identify,
    source: { docs: 'Two tabs after a refused `$identify`:' },
    plan: relayed(
      3_020_875,
      [
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 13_087 }, action: { verb: 'setProperties', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 2, person: 'ann', isForged: true } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
      ],
      {
        theme: 'tokens',
        hasStub: false,
        isSigned: true,
        hasTokens: true,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
    mayShow: (_plan, detail) => detail.endsWith(RESENT),
  },
];
