import { MODERN } from '../browser/browser.ts';
import { INVARIANTS } from './checks.ts';
import type { Defect } from './defect.ts';
import { changesPerson, direct, hasTwoPersons, now, relayed } from './defectPlans.ts';
import { has } from './plan.ts';

/** Known defects that mix up two people, or forget who somebody is. */
export const personDefects: readonly Defect[] = [
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
    mayShow: (plan, detail) => changesPerson(plan) && detail.startsWith('upsert'),
  },
  {
    name: 'a crash takes the $identify of a visitor, and the next page believes that it was sent',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      41468,
      [
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 8 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 5 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: now, action: { verb: 'crash', tab: 0 } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'ann' } },
      ],
      { dataset: { baseUrl: '/clew', flushInterval: '200', compress: 'false' }, hasStub: false },
    ),
    mayShow: (plan, detail) => has(plan, 'crash', 'kill', 'discard') && detail.startsWith('$identify'),
  },
  {
    name: 'one tab calls reset() and another one identify() in the same millisecond: the person is identified again',
    invariant: INVARIANTS.identify,
    issue: 16,
    plan: relayed(26217, [
      { wait: now, action: { verb: 'reset', tab: 1 } },
      { wait: { ms: 8564 }, action: { verb: 'open', tab: 1 } },
      { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      { wait: now, action: { verb: 'reset', tab: 1 } },
      { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
      { wait: { ms: 35005 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
    ]),
    mayShow: (plan) => changesPerson(plan) && has(plan, 'reset', 'resetAndLeave'),
  },
];
