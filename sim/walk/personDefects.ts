import { MODERN } from '../browser/browser.ts';
import { INVARIANTS } from './checks.ts';
import type { Defect } from './defect.ts';
import { changesPerson, hasTwoPersons, now, relayed } from './defectPlans.ts';
import { has } from './plan.ts';

/** Known defects that mix up two people, or forget who somebody is. */
export const personDefects: readonly Defect[] = [
  {
    name: 'a SIGKILL takes the last seconds of localStorage: a page that leaves before its database has answered identifies another person on the same visitor id',
    invariant: INVARIANTS.person,
    issue: 16,
    plan: relayed(
      932,
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
    mayShow: (plan) => hasTwoPersons(plan) && has(plan, 'kill'),
  },
  {
    name: 'localStorage is full: a page that leaves in the task of identify() cannot pass on whom it has identified',
    invariant: INVARIANTS.person,
    issue: 16,
    plan: relayed(
      7874,
      [
        { wait: now, action: { verb: 'limitStorage', most: 0 } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 1986 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 1268 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'ann' } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
      ],
      { theme: 'storage', dataset: { baseUrl: '/clew', flushInterval: '200', maxQueuedEvents: '80' } },
    ),
    mayShow: (plan) => hasTwoPersons(plan) && has(plan, 'limitStorage'),
  },
  {
    name: 'two services: what both trackers of a page that left have journaled is finished one tracker after the other',
    invariant: INVARIANTS.logout,
    issue: 16,
    plan: relayed(
      1313,
      [
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'resetAndLeave', tab: 2 } },
        { wait: { ms: 2043 }, action: { verb: 'flush', tab: 0 } },
      ],
      {
        theme: 'npm',
        isDirect: true,
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key' },
        hasStub: false,
        npm: { hasOther: true, hasTransport: false },
      },
    ),
    mayShow: (plan) => changesPerson(plan) && !!plan.npm?.hasOther,
  },
  {
    name: 'two services: a page leaves in the task of identify(), and the second tracker identifies another person on the same visitor id',
    invariant: INVARIANTS.person,
    issue: 16,
    plan: relayed(
      9371,
      [
        { wait: now, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: now, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
        { wait: { ms: 3705 }, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
      ],
      {
        theme: 'npm',
        features: { ...MODERN, hasLocks: false },
        hasStub: false,
        npm: { hasOther: true, hasTransport: false },
      },
    ),
    mayShow: (plan) => hasTwoPersons(plan) && !!plan.npm?.hasOther,
  },
  {
    name: 'two services: the calls of a page whose database is shut are finished one tracker after the other, and a person is identified again',
    invariant: INVARIANTS.identify,
    issue: 16,
    plan: relayed(
      4445,
      [
        { wait: now, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: { ms: 11_843 }, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
      ],
      {
        theme: 'npm',
        features: { ...MODERN, hasFetchLater: false },
        hasStub: false,
        npm: { hasOther: true, hasTransport: true },
      },
    ),
    mayShow: (plan) => changesPerson(plan) && !!plan.npm?.hasOther,
  },
  {
    name: 'two tabs within the time in which a page asks its database: an event of one goes to the person of the other',
    invariant: INVARIANTS.logout,
    issue: 16,
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
    mayShow: changesPerson,
  },
];
