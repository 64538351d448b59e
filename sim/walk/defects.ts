import { MODERN } from '../browser/browser.ts';
import { INVARIANTS } from './checks.ts';
import {
  changesPerson,
  direct,
  hasConsent,
  hasForeign,
  hasTwoPersons,
  keyed,
  leaves,
  now,
  relayed,
} from './defectPlans.ts';
import { npmDefects } from './npm/defects.ts';
import { has, hasRefusals, type Plan } from './plan.ts';
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
  /** Random walks that may show it, so that they do not fail the run. */
  readonly mayShow: (plan: Plan) => boolean;
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
    name: 'two tabs pass contradicting answers within a millisecond: one goes on although the last answer was a refusal',
    invariant: INVARIANTS.left,
    issue: 16,
    plan: relayed(
      2123,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: false } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 363 }, action: { verb: 'consent', tab: 1, isGranted: true } },
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: false } },
        { wait: { ms: 17_109 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      ],
      {
        theme: 'consent',
        isDirect: true,
        features: { ...MODERN, hasLocks: false, hasFetchLater: false },
        dataset: { ...keyed, consent: 'required' },
      },
    ),
    mayShow: hasConsent,
  },
  {
    name: 'a page that refuses and goes into the back/forward cache while it opens IndexedDB keeps it shut, and rows stay',
    invariant: INVARIANTS.left,
    issue: 16,
    plan: relayed(
      2167,
      [
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'consent', tab: 2, isGranted: true } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'consent', tab: 2, isGranted: false } },
        { wait: { tasks: 9 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 2 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: { ms: 31_272 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', consent: 'required' },
        hasStub: false,
      },
    ),
    mayShow: hasConsent,
  },
  {
    name: 'two tabs pass contradicting answers within a millisecond: one sends although the last answer was a refusal',
    invariant: INVARIANTS.sent,
    issue: 16,
    plan: relayed(
      5292,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: true } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: now, action: { verb: 'consent', tab: 1, isGranted: false } },
        { wait: { ms: 35_212 }, action: { verb: 'trackAndLeave', tab: 1, count: 2 } },
        { wait: { ms: 5 }, action: { verb: 'refuseAndGrant', tab: 0 } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasLocks: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', consent: 'required' },
        hasStub: false,
      },
    ),
    mayShow: hasConsent,
  },
  {
    name: 'a page that comes back from the back/forward cache keeps a refusal that another page has ended',
    invariant: INVARIANTS.dropped,
    issue: 16,
    plan: relayed(
      4545,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 4, size: 20_000 } },
        { wait: { ms: 14_210 }, action: { verb: 'refuseAndLeave', tab: 0 } },
        { wait: { ms: 33_514 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'consent', tab: 2, isGranted: true } },
        { wait: { ms: 668 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'back', tab: 0 } },
        { wait: { tasks: 11 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      ],
      { theme: 'consent', dataset: { baseUrl: '/clew', compress: 'false', consent: 'required' } },
    ),
    mayShow: (plan) => hasConsent(plan) && has(plan, 'back'),
  },
  ...npmDefects,
  ...storageDefects,
  ...pageDefects,
];

/** Whether a known defect explains that this walk broke the invariant. */
export const isKnown = (plan: Plan, invariant: string): boolean =>
  defects.some((defect) => defect.invariant === invariant && defect.mayShow(plan));
