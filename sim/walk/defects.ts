import { MODERN } from '../browser/browser.ts';
import type { Broken } from '../world/world.ts';
import { INVARIANTS } from './checks.ts';
import { changesPerson, direct, hasForeign, hasTwoPersons, keyed, leaves, now, relayed } from './defectPlans.ts';
import { npmDefects } from './npm/defects.ts';
import { has, hasRefusals, type Plan } from './plan.ts';
import { consentDefects } from './themes/consentDefects.ts';
import { pageDefects } from './themes/pageDefects.ts';
import { storageDefects } from './themes/storageDefects.ts';

/** A defect that the simulator has found and that an open issue is to fix. */
export interface Defect {
  readonly name: string;
  readonly invariant: string;
  /** Number of the issue whose fix removes the entry. */
  readonly issue: number;
  /** The shortest walk that shows it. It is an expected failure. */
  readonly plan: Plan;
  /** Random walks that may show it, so that they do not fail the run. `detail` is what the check has found. */
  readonly mayShow: (plan: Plan, detail: string) => boolean;
}

export const defects: readonly Defect[] = [
  {
    name: 'a page that leaves before the database has answered sends its $identify under the visitor id of the person before',
    invariant: INVARIANTS.person,
    issue: 16,
    plan: relayed(
      95,
      [
        { wait: now, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'identifyAndLeave', tab: 0, person: 'ann' } },
      ],
      { hasStub: false },
    ),
    mayShow: hasTwoPersons,
  },
  {
    name: 'after the site has deleted IndexedDB and kept localStorage, another person is identified on the same visitor id',
    invariant: INVARIANTS.person,
    issue: 16,
    plan: relayed(
      32,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 22_076 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 1544 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { ms: 1888 }, action: { verb: 'crash', tab: 0 } },
        { wait: now, action: { verb: 'clearDatabase' } },
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
      ],
      { features: { ...MODERN, hasLocks: false, hasFetchLater: false }, hasStub: false },
    ),
    mayShow: hasTwoPersons,
  },
  {
    name: 'another page sends what an open page has journaled, under the visitor id from before its identify()',
    invariant: INVARIANTS.logout,
    issue: 16,
    plan: relayed(
      107,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: { ms: 944 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { tasks: 10 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
      ],
      { ...direct, features: MODERN, dataset: { ...direct.dataset, flushInterval: '200' }, hasStub: true },
    ),
    mayShow: changesPerson,
  },
  {
    name: "somebody else's 200 page counts as delivered",
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
    name: 'a page does not know who has just been identified on a page that left: it refuses their properties',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      18_383,
      [
        { wait: now, action: { verb: 'back', tab: 0 } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: { ms: 6616 }, action: { verb: 'online' } },
        { wait: now, action: { verb: 'navigate', tab: 2 } },
        { wait: { tasks: 10 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
        { wait: { ms: 2008 }, action: { verb: 'online' } },
        { wait: now, action: { verb: 'setProperties', tab: 1 } },
      ],
      { features: { ...MODERN, hasFetchLater: false } },
    ),
    mayShow: (plan, detail) => has(plan, 'identifyAndLeave') && detail.startsWith('upsert'),
  },
  {
    name: 'after a SIGKILL, calls of the stub that were already replayed are replayed under new ids',
    invariant: INVARIANTS.id,
    issue: 16,
    plan: relayed(17_170, [
      { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
      { wait: { ms: 431 }, action: { verb: 'identifyAndLeave', tab: 0, person: 'ann' } },
      { wait: { tasks: 10 }, action: { verb: 'hide', tab: 1 } },
      { wait: { ms: 4014 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20_000 } },
      { wait: { tasks: 3 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      { wait: now, action: { verb: 'back', tab: 0 } },
      { wait: { ms: 31_603 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      { wait: { ms: 3 }, action: { verb: 'crash', tab: 1 } },
      { wait: now, action: { verb: 'reset', tab: 0 } },
      { wait: { tasks: 4 }, action: { verb: 'track', tab: 0, count: 1, name: 'poison' } },
      { wait: { tasks: 8 }, action: { verb: 'kill' } },
    ]),
    mayShow: (plan) => plan.hasStub && has(plan, 'kill'),
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
  ...consentDefects,
  ...npmDefects,
  ...storageDefects,
  ...pageDefects,
];

/** Whether a known defect explains what this walk broke. */
export const isKnown = (plan: Plan, { invariant, detail }: Pick<Broken, 'invariant' | 'detail'>): boolean =>
  defects.some((defect) => defect.invariant === invariant && defect.mayShow(plan, detail));
