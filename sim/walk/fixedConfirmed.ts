import { MODERN } from '../browser/browser.ts';
import { direct, keyed, now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';
import type { Plan, Step } from './plan.ts';

const walkOf = (seed: number, steps: readonly Step[]): Plan =>
  relayed(seed, steps, {
    features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
    hasStub: false,
  });

const track: Step = { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } };

/** A page leaves a journal, and the next one takes it in so late that a SIGKILL brings the journal back. */
const handedOver: readonly Step[] = [
  track,
  { wait: now, action: { verb: 'close', tab: 0 } },
  { wait: { ms: 15_000 }, action: { verb: 'open', tab: 0 } },
];

/** Like `handedOver`, but offline. The page then hands nothing over, so no receipt stops a second copy. */
const takenIn: readonly Step[] = [
  { wait: now, action: { verb: 'offline' } },
  ...handedOver,
  { wait: { ms: 10 }, action: { verb: 'online' } },
];

/** Walks that sent a confirmed event again. */
export const fixedConfirmed: readonly FixedWalk[] = [
  {
    name: 'what an open tab has sent of a page in the back/forward cache is not sent again from its journal',
    plan: relayed(
      26,
      [
        { wait: now, action: { verb: 'duplicate', tab: 2 } },
        { wait: { ms: 4969 }, action: { verb: 'freeze', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 4, size: 20_000 } },
        { wait: { tasks: 5 }, action: { verb: 'crash', tab: 1 } },
        { wait: { ms: 589 }, action: { verb: 'back', tab: 0 } },
        { wait: { tasks: 11 }, action: { verb: 'hide', tab: 0 } },
      ],
      {
        theme: 'pages',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false, hasThrottling: true },
      },
    ),
  },
  {
    name: 'a service that has confirmed nothing yet gets again what was handed over, although the other service of the page has',
    plan: relayed(
      401_097,
      [
        { wait: now, action: { verb: 'trackOther', tab: 0, count: 2 } },
        { wait: { ms: 599 }, action: { verb: 'identifyInTurn', tab: 1, person: 'ann', ms: 34 } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
      ],
      {
        ...direct,
        theme: 'npm',
        dataset: { ...keyed, maxBatchEvents: '5' },
        npm: { hasOther: true, hasTransport: true },
      },
    ),
  },
  {
    name: 'properties that another page has settled are not sent again by their page, which is back from the back/forward cache',
    plan: relayed(
      7072,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { tasks: 4 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: { tasks: 11 }, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 6785 }, action: { verb: 'back', tab: 0 } },
      ],
      { dataset: { baseUrl: '/clew', compress: 'false' } },
    ),
  },
  {
    name: 'a handover that has arrived is not sent again by a later page, although its events were stored from the journal meanwhile',
    plan: relayed(
      920_659,
      [
        { wait: now, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
        { wait: { ms: 17 }, action: { verb: 'reset', tab: 1 } },
        { wait: { ms: 4 }, action: { verb: 'close', tab: 0 } },
        { wait: now, action: { verb: 'flush', tab: 2 } },
        { wait: { ms: 33 }, action: { verb: 'duplicate', tab: 0 } },
        { wait: { ms: 3687 }, action: { verb: 'open', tab: 1 } },
        { wait: { tasks: 2 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 37 }, action: { verb: 'freeze', tab: 2 } },
        { wait: { tasks: 7 }, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 102 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'activate', tab: 0 } },
        { wait: { tasks: 2 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
      ],
      { theme: 'pages', features: { ...MODERN, hasFetchLater: false, hasThrottling: true } },
    ),
  },
  {
    name: 'a journal that a SIGKILL brings back is not taken in again',
    plan: walkOf(1, [...handedOver, { wait: { ms: 2000 }, action: { verb: 'kill' } }]),
  },
  {
    name: 'a handover that has arrived is not sent again by a tab that reads it from another tab, which takes it in at that moment',
    plan: relayed(
      602_987,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
        { wait: { ms: 14_425 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 36_346 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 2679 }, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
        { wait: { tasks: 2 }, action: { verb: 'freeze', tab: 0 } },
        { wait: { ms: 39 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 1 }, action: { verb: 'open', tab: 0 } },
        { wait: { tasks: 10 }, action: { verb: 'identifyAndLeave', tab: 2, person: 'ann' } },
      ],
      {
        theme: 'pages',
        features: { ...MODERN, hasFetchLater: false, hasThrottling: true },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a journal that a SIGKILL brings back is not taken in again, although nothing was handed over',
    plan: walkOf(6, [...takenIn, { wait: { ms: 1000 }, action: { verb: 'kill' } }]),
  },
  {
    name: 'a journal that a SIGKILL brings back is not taken in again, although somebody was identified meanwhile',
    plan: walkOf(2, [
      ...takenIn,
      { wait: { ms: 1000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
      { wait: { ms: 1000 }, action: { verb: 'kill' } },
    ]),
  },
  {
    name: 'a journal that a SIGKILL brings back is not taken in again, although a page has left in reset() meanwhile',
    plan: walkOf(3, [
      ...takenIn,
      { wait: { ms: 1000 }, action: { verb: 'resetAndLeave', tab: 0 } },
      { wait: { ms: 1 }, action: { verb: 'kill' } },
    ]),
  },
  {
    name: 'a page that closes while another one holds the database records what is confirmed',
    plan: walkOf(4, [
      { wait: now, action: { verb: 'open', tab: 0 } },
      { ...track, wait: { ms: 5000 } },
      { wait: { ms: 20 }, action: { verb: 'busyDatabase', ms: 4000 } },
      { wait: { ms: 100 }, action: { verb: 'close', tab: 0 } },
    ]),
  },
  {
    name: 'a page that closes while another one holds the database records what is confirmed, for each of its services',
    plan: {
      ...walkOf(5, [
        { wait: now, action: { verb: 'trackOther', tab: 0, count: 1 } },
        { wait: { ms: 20 }, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: { ms: 100 }, action: { verb: 'close', tab: 0 } },
      ]),
      theme: 'npm',
      npm: { hasOther: true, hasTransport: false },
    },
  },
  {
    name: 'what a page has recorded as confirmed reaches the tab that sends, and not only the first one that starts',
    plan: relayed(
      1_104_680,
      [
        { wait: now, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { ms: 32 }, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: { ms: 299 }, action: { verb: 'slowDisk', isSlow: true } },
        { wait: now, action: { verb: 'close', tab: 2 } },
        { wait: { ms: 493 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 3799 }, action: { verb: 'navigate', tab: 0 } },
      ],
      { hasStub: false },
    ),
  },
  {
    // The page has ended the request by then, and sends its events again.
    name: 'an answer that comes after the time-out of its request counts as none',
    plan: relayed(
      9000448,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 45 }, action: { verb: 'restartRelay' } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: now, action: { verb: 'offline' } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: now, action: { verb: 'online' } },
        { wait: now, action: { verb: 'resetAndLeave', tab: 1 } },
        { wait: now, action: { verb: 'network', kind: 'slow' } },
        { wait: { ms: 22_258 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20_000 } },
      ],
      {
        features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a page that starts does not take in again what another page has recorded as confirmed',
    plan: relayed(
      423,
      [
        { wait: now, action: { verb: 'duplicate', tab: 1 } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 22 }, action: { verb: 'crash', tab: 2 } },
        { wait: { ms: 3000 }, action: { verb: 'offline' } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'duplicate', tab: 0 } },
        { wait: now, action: { verb: 'online' } },
        { wait: { ms: 3000 }, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: { ms: 6000 }, action: { verb: 'kill' } },
      ],
      {
        theme: 'pages',
        features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a page does not take in the journal of a page that is open',
    plan: relayed(
      3999,
      [
        { wait: now, action: { verb: 'duplicate', tab: 0 } },
        { wait: now, action: { verb: 'offline' } },
        { wait: { ms: 300 }, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 1000 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      ],
      {
        theme: 'pages',
        features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a handover that the relay has taken, and whose rows lie behind a backlog, is not sent again by another tab',
    plan: relayed(
      4036292,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 60, name: 'walk' } },
        { wait: { ms: 23 }, action: { verb: 'kill' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { ms: 705 }, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: now, action: { verb: 'service', status: 404, takes: false } },
        { wait: { ms: 34494 }, action: { verb: 'reset', tab: 2 } },
      ],
      {
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', compress: 'false' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a handover that the relay has taken is not sent again by a page that opens later and takes it in from the journal',
    plan: relayed(
      362,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: { ms: 2 }, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 19_504 }, action: { verb: 'trackAndLeave', tab: 2, count: 2 } },
        { wait: { tasks: 8 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 3 }, action: { verb: 'busyDatabase', ms: 400 } },
        { wait: { tasks: 10 }, action: { verb: 'trackAndLeave', tab: 1, count: 2 } },
        { wait: { tasks: 13 }, action: { verb: 'crash', tab: 1 } },
        { wait: { ms: 53 }, action: { verb: 'restartRelay' } },
        { wait: { ms: 12_590 }, action: { verb: 'back', tab: 1 } },
      ],
      {
        theme: 'pages',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'more handovers than a question has, in front of a backlog, are all asked about, and their events follow',
    plan: relayed(
      9_101_988,
      [
        { wait: now, action: { verb: 'service', status: 413, takes: true } },
        { wait: now, action: { verb: 'track', tab: 1, count: 60, name: 'walk' } },
        { wait: { tasks: 9 }, action: { verb: 'navigate', tab: 2 } },
        { wait: { ms: 34 }, action: { verb: 'track', tab: 2, count: 60, name: 'walk' } },
        { wait: { ms: 31_345 }, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
      ],
      {
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'without BroadcastChannel, a page does not hand over again what a page that has left has noted as settled',
    plan: relayed(
      5542,
      [
        { wait: now, action: { verb: 'hide', tab: 1 } },
        { wait: { ms: 47 }, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: now, action: { verb: 'close', tab: 1 } },
        { wait: { ms: 7333 }, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: { ms: 4 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
      ],
      {
        theme: 'crashes',
        features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', compress: 'false' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a service gets again what a page hands over that was in the back/forward cache until then, and knows no link',
    plan: relayed(
      29_005_843,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 1822 }, action: { verb: 'back', tab: 0 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: now, action: { verb: 'online' } },
        { wait: now, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 624 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'back', tab: 2 } },
        { wait: { tasks: 2 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 4 }, action: { verb: 'close', tab: 0 } },
      ],
      {
        isDirect: true,
        features: { ...MODERN, hasFetchLater: false },
        dataset: { ...keyed, maxBatchEvents: '5' },
      },
    ),
  },
  {
    name: 'what a page has copied from a journal as it crashed is not sent again, because another page has taken in that journal',
    plan: relayed(
      36_032_393,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 205 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'ann' } },
        { wait: { tasks: 11 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { ms: 3 }, action: { verb: 'reset', tab: 2 } },
        { wait: now, action: { verb: 'setProperties', tab: 1 } },
        { wait: now, action: { verb: 'crash', tab: 0 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: { tasks: 4 }, action: { verb: 'online' } },
        { wait: { tasks: 10 }, action: { verb: 'crash', tab: 0 } },
      ],
      { ...direct, features: MODERN, dataset: { ...keyed, compress: 'false' }, hasStub: false },
    ),
  },
  {
    name: 'a service gets again what a page hands over whose link was not stored, because the page before left at once',
    plan: relayed(
      36_045_404,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 23 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 7 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { ms: 15_991 }, action: { verb: 'network', kind: 'fair' } },
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
      ],
      {
        ...direct,
        theme: 'tokens',
        features: MODERN,
        dataset: { ...keyed, compress: 'false' },
        hasStub: false,
        isSigned: true,
        hasTokens: true,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
  {
    name: 'the journal of an open page stays its own: that page stores the items itself',
    plan: relayed(
      38,
      [
        { wait: { ms: 3 }, action: { verb: 'open', tab: 2 } },
        { wait: { ms: 50 }, action: { verb: 'navigate', tab: 2 } },
        { wait: now, action: { verb: 'navigate', tab: 1 } },
        { wait: now, action: { verb: 'identifyInTurn', tab: 2, person: 'ann', ms: 1 } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { tasks: 4 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 4 }, action: { verb: 'setProperties', tab: 2 } },
      ],
      { ...direct, dataset: { ...keyed, compress: 'false' }, hasStub: false },
    ),
  },
];
