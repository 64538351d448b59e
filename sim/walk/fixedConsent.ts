import { MODERN } from '../browser/browser.ts';
import { keyed, now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';

/** Walks in which the visitor answers, and that have broken an invariant once. */
export const fixedConsent: readonly FixedWalk[] = [
  {
    name: 'a page that was in the back/forward cache during a refusal and a new consent does not bring the refused visitor back',
    plan: relayed(
      4,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: true } },
        { wait: { ms: 500 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 500 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 5000 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 1000 }, action: { verb: 'refuseAndGrant', tab: 0 } },
        { wait: { ms: 1000 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 5000 }, action: { verb: 'back', tab: 0 } },
        { wait: { ms: 1000 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
      ],
      { theme: 'consent', dataset: { baseUrl: '/clew', consent: 'required' }, hasStub: false },
    ),
  },
  {
    name: 'a tab refuses and consents at once: another one, which does not know of it yet, does not bring the refused visitor back',
    plan: relayed(
      304_438,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: false } },
        { wait: { tasks: 4 }, action: { verb: 'refuseAndGrant', tab: 2 } },
        { wait: now, action: { verb: 'navigate', tab: 1 } },
        { wait: { ms: 3518 }, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: { ms: 2 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'close', tab: 0 } },
        { wait: { ms: 0 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
        { wait: { tasks: 10 }, action: { verb: 'navigate', tab: 0 } },
        { wait: now, action: { verb: 'close', tab: 2 } },
        { wait: { ms: 2 }, action: { verb: 'refuseAndGrant', tab: 0 } },
        { wait: { ms: 27 }, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 1289 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'online' } },
        { wait: { ms: 3 }, action: { verb: 'refuseAndGrant', tab: 1 } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
      ],
      {
        theme: 'consent',
        isDirect: true,
        dataset: { ...keyed, consent: 'required' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a tab refuses and consents at once: another one erases nothing that the tab has stored since',
    plan: relayed(
      12,
      [
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'consent', tab: 2, isGranted: false } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { ms: 27 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20_000 } },
        { wait: { ms: 0 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: { ms: 54 }, action: { verb: 'refuseAndGrant', tab: 2 } },
        { wait: { ms: 2 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 6 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 33_663 }, action: { verb: 'service', status: undefined, takes: false } },
      ],
      {
        theme: 'consent',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: true },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', compress: 'false', consent: 'granted', respectGpc: 'true' },
      },
    ),
  },
  {
    name: 'the database does not answer while a visitor refuses and consents: a tab that had no consent erases nothing once it answers',
    plan: relayed(
      202_175,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: now, action: { verb: 'refuseAndGrant', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20_000 } },
        { wait: now, action: { verb: 'resetAndLeave', tab: 2 } },
        { wait: { ms: 21_380 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'back', tab: 2 } },
        { wait: now, action: { verb: 'navigate', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: now, action: { verb: 'service', status: 503, takes: false, retryAfter: '30' } },
        { wait: now, action: { verb: 'back', tab: 2 } },
        { wait: { tasks: 4 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { ms: 16_746 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasLocks: false },
        dataset: { baseUrl: '/clew', consent: 'required' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a SIGKILL brings back a hint from before a refusal and a new consent: the record counts, and no call is dropped',
    plan: relayed(
      303_402,
      [
        { wait: now, action: { verb: 'refuseAndGrant', tab: 0 } },
        { wait: { ms: 23_100 }, action: { verb: 'offline' } },
        { wait: now, action: { verb: 'refuseAndGrant', tab: 0 } },
        { wait: { ms: 4188 }, action: { verb: 'kill' } },
        { wait: now, action: { verb: 'navigate', tab: 0 } },
      ],
      {
        theme: 'consent',
        dataset: { baseUrl: '/clew', consent: 'required' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a tab that does not know of a refusal and a consent yet does not write its own hint in place of the new one',
    plan: relayed(
      304_438,
      [
        { wait: now, action: { verb: 'refuseAndGrant', tab: 2 } },
        { wait: { ms: 3518 }, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: now, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'close', tab: 2 } },
        { wait: { ms: 2 }, action: { verb: 'refuseAndGrant', tab: 0 } },
        { wait: { ms: 1 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 1289 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'refuseAndGrant', tab: 1 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
      ],
      {
        theme: 'consent',
        isDirect: true,
        dataset: { ...keyed, consent: 'required' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a page refuses and leaves: one that comes back at that moment does not go on with a database that is being deleted',
    plan: relayed(
      607_804,
      [
        { wait: now, action: { verb: 'refuseAndLeave', tab: 1 } },
        { wait: { ms: 90 }, action: { verb: 'consent', tab: 1, isGranted: false } },
        { wait: { ms: 4 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 52 }, action: { verb: 'consent', tab: 2, isGranted: true } },
        { wait: { ms: 2764 }, action: { verb: 'service', status: undefined, takes: false } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { ms: 3773 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'consent', tab: 1, isGranted: false } },
        { wait: now, action: { verb: 'back', tab: 1 } },
        { wait: { ms: 643 }, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasLocks: false, hasFetchLater: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', compress: 'false', consent: 'required' },
      },
    ),
  },
  {
    name: 'a first visit whose database the site deletes while a page is in the back/forward cache: its events do not count as refused',
    plan: relayed(
      19_691,
      [
        { wait: now, action: { verb: 'navigate', tab: 2 } },
        { wait: { ms: 5 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 47 }, action: { verb: 'flush', tab: 2 } },
        { wait: now, action: { verb: 'clearDatabase' } },
        { wait: { ms: 9451 }, action: { verb: 'back', tab: 0 } },
      ],
      { features: { ...MODERN, hasFetchLater: false } },
    ),
  },
  {
    name: 'a refusal and a consent in a moment, as another page begins: it does not take in the visitor from before',
    plan: relayed(
      933_799,
      [
        { wait: now, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 6 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 0 }, action: { verb: 'consent', tab: 0, isGranted: true } },
        { wait: { tasks: 7 }, action: { verb: 'consent', tab: 1, isGranted: true } },
        { wait: { tasks: 7 }, action: { verb: 'refuseAndGrant', tab: 1 } },
        { wait: { ms: 639 }, action: { verb: 'setProperties', tab: 1 } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', consent: 'required' },
      },
    ),
  },
  {
    name: 'a refusal and a consent while another page loads: it does not store the visitor from before again',
    plan: relayed(
      591_619,
      [
        { wait: now, action: { verb: 'consent', tab: 2, isGranted: true } },
        { wait: { ms: 4 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'navigate', tab: 1 } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: now, action: { verb: 'network', kind: 'fair' } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
        { wait: now, action: { verb: 'network', kind: 'lossy' } },
        { wait: now, action: { verb: 'crash', tab: 2 } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 675 }, action: { verb: 'open', tab: 1 } },
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: false } },
        { wait: { ms: 327 }, action: { verb: 'consent', tab: 1, isGranted: true } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasFetchLater: false, hasGpc: true },
        dataset: { baseUrl: '/clew', compress: 'false', consent: 'granted', respectGpc: 'true' },
      },
    ),
  },
];
