import { MODERN } from '../browser/browser.ts';
import { direct, keyed, now, relayed } from './breakPlans.ts';
import { fixedClocks } from './fixedClocks.ts';
import { fixedConfirmed } from './fixedConfirmed.ts';
import { fixedConsent } from './fixedConsent.ts';
import { fixedCounts } from './fixedCounts.ts';
import { fixedPlain } from './fixedPlain.ts';
import { fixedProperties } from './fixedProperties.ts';
import { fixedStorage } from './fixedStorage.ts';
import { fixedVisitor } from './fixedVisitor.ts';
import type { FixedWalk } from './fixedWalk.ts';
import type { Step } from './plan.ts';

/** Walks that showed a defect. Each defect is fixed, so the walks break no invariant any more. */
export const fixed: readonly FixedWalk[] = [
  ...fixedVisitor,
  ...fixedConsent,
  ...fixedStorage,
  ...fixedConfirmed,
  ...fixedCounts,
  ...fixedPlain,
  ...fixedClocks,
  ...fixedProperties,
  {
    name: 'a prerendered page that is given up takes no calls of a page that left too soon with it',
    plan: relayed(
      3,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 5000 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 1 }, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: now, action: { verb: 'prerender', tab: 0, count: 0 } },
        { wait: { ms: 20_000 }, action: { verb: 'cancelPrerender', tab: 0 } },
      ],
      { theme: 'pages' },
    ),
  },
  {
    name: 'a page that has come back from the back/forward cache learns of a refusal in another tab',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: true } },
        { wait: { ms: 5000 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 1000 }, action: { verb: 'back', tab: 0 } },
        { wait: { ms: 5000 }, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 1000 }, action: { verb: 'consent', tab: 1, isGranted: false } },
        { wait: { ms: 1000 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 10_000 }, action: { verb: 'flush', tab: 0 } },
      ],
      { theme: 'consent', dataset: { baseUrl: '/clew', consent: 'required' }, hasStub: false },
    ),
  },
  {
    name: 'a page that leaves a moment after a refusal in another tab notices it when it is back from the back/forward cache',
    plan: relayed(
      3_000_502,
      [
        { wait: now, action: { verb: 'consent', tab: 1, isGranted: true } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 625 }, action: { verb: 'service', status: undefined, takes: false } },
        { wait: now, action: { verb: 'refuseAndLeave', tab: 1 } },
        { wait: { tasks: 6 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { tasks: 11 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 36_195 }, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
      ],
      {
        theme: 'consent',
        isDirect: true,
        features: { ...MODERN, hasGpc: true },
        dataset: { ...keyed, flushInterval: '200', consent: 'granted', respectGpc: 'true' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'a page that is offline for long keeps in memory only the latest of what it has stored',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 5000 }, action: { verb: 'offline' } },
        ...Array.from(
          { length: 8 },
          (): Step => ({
            wait: { ms: 1000 },
            action: { verb: 'track', tab: 0, count: 2, name: 'walk', size: 20_000 },
          }),
        ),
        { wait: { ms: 5000 }, action: { verb: 'clearDatabase' } },
      ],
      { hasStub: false },
    ),
  },
  {
    name: 'sends calls of the stub that are replayed again after a SIGKILL under the same ids',
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
  },
  {
    name: 'leaves no row of a page that refuses and enters the back/forward cache while it opens IndexedDB',
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
  },
  {
    name: 'ends a refusal on a page that comes back from the back/forward cache after a grant',
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
  },
  {
    name: 'asks rarely for a database that a page in the back/forward cache keeps shut',
    plan: relayed(
      9297,
      [
        { wait: now, action: { verb: 'refuseAndGrant', tab: 1 } },
        { wait: { ms: 3 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: now, action: { verb: 'navigate', tab: 2 } },
        { wait: { ms: 25 }, action: { verb: 'consent', tab: 2, isGranted: false } },
        { wait: { tasks: 8 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
      ],
      {
        theme: 'consent',
        dataset: { baseUrl: '/clew', flushInterval: '200', consent: 'required' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'keeps events that a foreign 200 page answers',
    plan: relayed(
      42,
      [
        { wait: now, action: { verb: 'network', kind: 'foreign' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 389 }, action: { verb: 'open', tab: 2 } },
      ],
      { features: { ...MODERN, hasFetchLater: false } },
    ),
  },
  {
    name: 'keeps the lease of a tab while another page asks for it and leaves',
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
  },
  {
    name: 'keeps a pause that is asked for while a page comes back from the back/forward cache',
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
  },
  {
    name: 'keeps the order of events that are handed over to a foreign 200 page',
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
  },
  {
    name: 'gives an activated page a lease name of its own',
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
  },
  {
    name: 'ends the lease of a page that leaves during its transaction',
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
  },
  {
    name: 'sends one request per flushInterval while events trickle in',
    plan: relayed(1, [{ wait: now, action: { verb: 'trickle', tab: 0, ms: 30_000 } }]),
  },
  {
    name: 'ends the leases of both trackers of a page that leaves',
    plan: relayed(
      13_869,
      [
        { wait: now, action: { verb: 'trackOther', tab: 0, count: 3 } },
        { wait: now, action: { verb: 'trackOther', tab: 1, count: 3 } },
        { wait: { ms: 10 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 45 }, action: { verb: 'identifyAndLeave', tab: 0, person: 'ann' } },
        { wait: { ms: 2361 }, action: { verb: 'trackOther', tab: 2, count: 3 } },
        { wait: { ms: 10_649 }, action: { verb: 'trackOther', tab: 1, count: 3 } },
      ],
      {
        theme: 'npm',
        dataset: { baseUrl: '/clew', flushInterval: '200', maxBatchEvents: '5', compress: 'false' },
        hasStub: false,
        npm: { hasOther: true, hasTransport: true },
      },
    ),
  },
  {
    name: 'properties that a page hands over in one request arrive after the next page has sent them one by one',
    plan: relayed(
      400_281,
      [
        { wait: now, action: { verb: 'identify', tab: 2, person: 'bob' } },
        { wait: { ms: 42 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'network', kind: 'slow' } },
        { wait: now, action: { verb: 'navigate', tab: 1 } },
      ],
      {
        theme: 'npm',
        features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false },
        hasStub: false,
        npm: { hasOther: true, hasTransport: true },
      },
    ),
  },
  {
    name: 'a page leaves while its lease is being written: other pages do not wait for the end of that lease',
    plan: relayed(
      1,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 19 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 10 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 2 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 7 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 21991 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
      ],
      { isDirect: true, dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key' }, hasStub: false },
    ),
  },
  {
    name: 'events of an open page that waits for its database are in order, though another page begins meanwhile',
    plan: relayed(
      127,
      [
        { wait: { tasks: 0 }, action: { verb: 'hide', tab: 0 } },
        { wait: { tasks: 6 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 0 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'open', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { ms: 248 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
      ],
      {
        isDirect: true,
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', compress: 'false' },
      },
    ),
  },
  {
    name: 'events of a page that waits for its database come before those of a later page',
    plan: relayed(
      91_756,
      [
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { ms: 653 }, action: { verb: 'offline' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 3402 }, action: { verb: 'crash', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: { ms: 577 }, action: { verb: 'resetAndLeave', tab: 2 } },
        { wait: { ms: 3307 }, action: { verb: 'online' } },
        { wait: { tasks: 0 }, action: { verb: 'reset', tab: 1 } },
      ],
      { isDirect: true, features: { ...MODERN, hasFetchLater: false }, dataset: { ...keyed }, hasStub: false },
    ),
  },
  {
    name: 'a page that leaves hands over all properties of a customer in one request',
    plan: relayed(2, [
      { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
      { wait: { ms: 2000 }, action: { verb: 'setProperties', tab: 0 } },
      { wait: now, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
    ]),
  },
  {
    name: 'a page that leaves hands over no properties while older ones are unanswered',
    plan: relayed(4, [
      { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
      { wait: { ms: 2000 }, action: { verb: 'setProperties', tab: 0 } },
      { wait: now, action: { verb: 'flush', tab: 0 } },
      { wait: { ms: 20 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
    ]),
  },
  {
    name: 'without a relay, a page that leaves hands over no properties while older ones are unanswered',
    plan: relayed(
      3,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 2000 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'flush', tab: 0 } },
        { wait: { ms: 20 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
      ],
      direct,
    ),
  },
  {
    name: 'an identity token that has expired does not shorten the back-off of a service that is overloaded',
    plan: relayed(
      24_065,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 188 }, action: { verb: 'identify', tab: 1, person: 'bob', isForged: true } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'service', status: 429, takes: false } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: now, action: { verb: 'changeKeys', kind: 'adds' } },
        { wait: now, action: { verb: 'changeKeys', kind: 'removes' } },
        { wait: { ms: 37_943 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      ],
      {
        theme: 'tokens',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', compress: 'false' },
        hasStub: false,
        isSigned: true,
        hasTokens: true,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
  {
    name: 'a page that is back and leaves at once hands over its old events first, because other pages may not have sent them',
    plan: relayed(
      34_010_346,
      [
        { wait: now, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { tasks: 10 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20_000 } },
        { wait: { ms: 34_173 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'back', tab: 0 } },
        { wait: { ms: 0 }, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 20 }, action: { verb: 'navigate', tab: 0 } },
      ],
      { features: { ...MODERN, hasFetchLater: false }, dataset: { baseUrl: '/clew', compress: 'false' } },
    ),
  },
];
