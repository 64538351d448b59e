import { MODERN } from '../browser/browser.ts';
import { direct, keyed, now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';
import type { Plan, Step } from './plan.ts';

/** A page with two trackers, both of which have asked the database. */
const twoTrackers = (steps: readonly Step[]): Plan =>
  relayed(1, [{ wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } }, ...steps], {
    theme: 'npm',
    hasStub: false,
    npm: { hasOther: true, hasTransport: false },
  });

const identifies = (person: string): Step => ({ wait: { ms: 6000 }, action: { verb: 'identify', tab: 0, person } });
const reloads: Step = { wait: { ms: 6000 }, action: { verb: 'navigate', tab: 0 } };

/** Walks that mixed up two persons, or lost the visitor's identity. */
export const fixedVisitor: readonly FixedWalk[] = [
  {
    name: 'a page that leaves before the database has answered gives each person a visitor id of their own',
    plan: relayed(
      95,
      [
        { wait: now, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'identifyAndLeave', tab: 0, person: 'ann' } },
      ],
      { hasStub: false },
    ),
  },
  {
    name: 'a page that leaves before the database has answered gives no properties of a customer to the next one',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 6000 }, action: { verb: 'busyDatabase', ms: 100 } },
        { wait: now, action: { verb: 'navigate', tab: 0 } },
        { wait: { tasks: 2 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 20 }, action: { verb: 'identifyAndLeave', tab: 0, person: 'bob' } },
      ],
      { hasStub: false },
    ),
  },
  {
    name: 'after the site has deleted IndexedDB and kept localStorage, another person gets another visitor id',
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
  },
  {
    name: 'what an open page has journaled is sent under the visitor id from after its identify()',
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
  },
  {
    name: 'a page that leaves knowing only the mark of who is identified does not overwrite the primary key',
    plan: relayed(
      478858,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: now, action: { verb: 'service', status: 503, takes: false, retryAfter: '30' } },
        { wait: { ms: 2251 }, action: { verb: 'service', status: 503, takes: true } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { tasks: 5 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: { ms: 4167 }, action: { verb: 'setProperties', tab: 2 } },
      ],
      { ...direct, features: { ...MODERN, hasFetchLater: false }, hasStub: true },
    ),
  },
  {
    name: 'a page that comes back from the back/forward cache makes the calls of a page that left before the bundle was loaded',
    plan: relayed(
      602_520,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { ms: 2 }, action: { verb: 'reset', tab: 1 } },
        { wait: now, action: { verb: 'back', tab: 0 } },
        { wait: { ms: 15_176 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
      ],
      { features: { ...MODERN, hasLocks: false, hasFetchLater: false }, hasStub: true, theme: 'crashes' },
    ),
  },
  {
    name: 'a page knows who has just been identified on a page that left',
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
  },
  {
    name: 'the $identify of a visitor survives a crash',
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
  },
  {
    name: 'properties that are set while identify() is being stored survive a crash',
    plan: relayed(
      940_053,
      [
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: { tasks: 11 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { tasks: 7 }, action: { verb: 'crash', tab: 0 } },
      ],
      {
        theme: 'crashes',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'properties of nobody are reported, after a SIGKILL has taken each of two calls of identify()',
    plan: relayed(
      951_092,
      [
        { wait: now, action: { verb: 'identifyAndLeave', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'kill' } },
        { wait: { ms: 28_843 }, action: { verb: 'busyDatabase', ms: 20 } },
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'kill' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: { ms: 21_643 }, action: { verb: 'setPropertiesAndLeave', tab: 2 } },
      ],
      { theme: 'crashes', dataset: { baseUrl: '/clew', flushInterval: '200', maxBatchEvents: '5' } },
    ),
  },
  {
    name: 'one tab calls reset() and another one identify() in the same millisecond: the person is identified once',
    plan: relayed(26217, [
      { wait: now, action: { verb: 'reset', tab: 1 } },
      { wait: { ms: 8564 }, action: { verb: 'open', tab: 1 } },
      { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      { wait: now, action: { verb: 'reset', tab: 1 } },
      { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
      { wait: { ms: 35005 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
    ]),
  },
  {
    name: 'two services: after a reload, another person gets another visitor id at both',
    plan: twoTrackers([identifies('ann'), reloads, identifies('bob')]),
  },
  {
    name: 'two services: after a reload, a person is not identified again',
    plan: twoTrackers([identifies('ann'), reloads, identifies('ann')]),
  },
  {
    name: "two services: after a reload, a customer's properties are sent by both trackers",
    plan: twoTrackers([identifies('ann'), reloads, { wait: { ms: 6000 }, action: { verb: 'setProperties', tab: 0 } }]),
  },
  {
    name: 'two services: a page that leaves in the task of identify() at one of them keeps the primary key of the other one',
    plan: twoTrackers([
      { wait: { ms: 6000 }, action: { verb: 'identifyInTurn', tab: 0, person: 'ann', ms: 3000 } },
      { wait: { ms: 9000 }, action: { verb: 'setProperties', tab: 0 } },
    ]),
  },
  {
    name: 'two tabs whose database stays shut identify two persons: each gets a visitor id of their own',
    plan: relayed(
      4972,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 559 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 8 }, action: { verb: 'resetAndLeave', tab: 2 } },
        { wait: { tasks: 6 }, action: { verb: 'navigate', tab: 2 } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: { tasks: 10 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'ann' } },
      ],
      { features: { ...MODERN, hasLocks: false, hasFetchLater: false } },
    ),
  },
  {
    name: 'another tab sets properties between identify() and the departure, while the database is shut: it knows the customer',
    plan: relayed(
      24_678,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'network', kind: 'foreign' } },
        { wait: now, action: { verb: 'track', tab: 2, count: 2, name: 'walk' } },
        { wait: now, action: { verb: 'setProperties', tab: 1 } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: { ms: 134 }, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { ms: 581 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 11 }, action: { verb: 'navigate', tab: 0 } },
      ],
      { features: { ...MODERN, hasFetchLater: false } },
    ),
  },
  {
    name: 'what is tracked after stop() is stored, also offline',
    plan: relayed(
      519,
      [
        { wait: now, action: { verb: 'flush', tab: 0 } },
        { wait: now, action: { verb: 'offline' } },
        { wait: { ms: 637 }, action: { verb: 'stop', tab: 0 } },
      ],
      { theme: 'npm', features: MODERN, hasStub: false, npm: { hasOther: false, hasTransport: false } },
    ),
  },
  {
    name: 'with localStorage full, a page that leaves in the task of identify() passes on whom it has identified',
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
  },
  {
    name: 'two services: events of a page that left in the task of reset() belong to the new visitor',
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
  },
  {
    name: 'two services: a page that leaves in the task of identify() gives the person a visitor id at both',
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
  },
  {
    name: 'two services: a page whose database is shut identifies each person once',
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
  },
  {
    name: 'a SIGKILL right after a page that left in the task of identify(): the $identify is stored with the record',
    plan: relayed(
      64515,
      [
        { wait: { tasks: 0 }, action: { verb: 'network', kind: 'hangs' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 2441 }, action: { verb: 'identifyAndLeave', tab: 2, person: 'ann' } },
        { wait: { tasks: 0 }, action: { verb: 'kill' } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
      ],
      {
        theme: 'plain',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew' },
        hasStub: true,
      },
    ),
  },
  {
    name: 'a SIGKILL right after identify() and a departure, while the service answers 404: the next identify() need not send it again',
    plan: relayed(
      87860,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'service', status: 404, takes: false } },
        { wait: { ms: 15671 }, action: { verb: 'identifyAndLeave', tab: 2, person: 'bob' } },
        { wait: { tasks: 0 }, action: { verb: 'kill' } },
        { wait: { ms: 14821 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
      ],
      {
        theme: 'plain',
        isDirect: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'correlationValue() settles in a tab in which nothing else happens',
    plan: relayed(
      4711,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 10_000 }, action: { verb: 'askId', tab: 1 } },
      ],
      { theme: 'calls', hasStub: false },
    ),
  },
  {
    name: 'correlationValue() is the id of the events that follow, also after another tab has called reset() and no database answers',
    plan: relayed(
      911_231,
      [
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'navigate', tab: 2 } },
        { wait: now, action: { verb: 'navigate', tab: 2 } },
        { wait: now, action: { verb: 'askId', tab: 0 } },
        { wait: { ms: 55 }, action: { verb: 'reset', tab: 0 } },
      ],
      {
        theme: 'calls',
        isDirect: true,
        features: { ...MODERN, hasLocks: false, hasFetchLater: false },
        dataset: keyed,
        hasStub: false,
        isSigned: true,
      },
    ),
  },
  {
    name: 'sends $identify again with the right signature after the relay has refused a wrong one',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann', isForged: true } },
        { wait: { ms: 20_000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 20_000 }, action: { verb: 'flush', tab: 0 } },
      ],
      { theme: 'calls', isSigned: true, hasStub: false },
    ),
  },
  {
    name: 'sends $identify with a new token if the first one expires while another tab has the database',
    plan: relayed(
      1,
      [
        { wait: { ms: 10_000 }, action: { verb: 'busyDatabase', ms: 8000 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 20_000 }, action: { verb: 'navigate', tab: 0 } },
      ],
      {
        theme: 'calls',
        isSigned: true,
        hasTokens: true,
        hasStub: false,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
  {
    name: 'gives the id that another tab has begun while the database was busy, which the next event gets, too',
    plan: relayed(
      4037580,
      [
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: { tasks: 9 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: now, action: { verb: 'busyDatabase', ms: 4000 } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'askId', tab: 1 } },
        { wait: { ms: 19 }, action: { verb: 'navigate', tab: 0 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob', isForged: true } },
      ],
      {
        theme: 'calls',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        isSigned: true,
      },
    ),
  },
  {
    name: 'a reset before the database has answered reaches the other tabs where localStorage is full',
    plan: relayed(
      5405159,
      [
        { wait: now, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 2735 }, action: { verb: 'trackAndLeave', tab: 2, count: 4, size: 20_000 } },
        { wait: now, action: { verb: 'hangOpens', ms: 20_000 } },
        { wait: now, action: { verb: 'limitStorage', most: 0 } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 308 }, action: { verb: 'reset', tab: 2 } },
        { wait: { tasks: 10 }, action: { verb: 'identifyAndLeave', tab: 1, person: 'bob' } },
      ],
      {
        theme: 'storage',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', maxQueuedEvents: '80' },
      },
    ),
  },
  {
    name: 'two tabs identify the same customer before the database has answered: one of them sends the $identify',
    plan: relayed(
      1_017_859,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { ms: 0 }, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: { tasks: 8 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'consent', tab: 2, isGranted: true } },
        { wait: { tasks: 4 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 7 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'consent', tab: 1, isGranted: true } },
        { wait: { tasks: 8 }, action: { verb: 'identify', tab: 2, person: 'bob' } },
      ],
      {
        theme: 'consent',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', consent: 'required' },
      },
    ),
  },
  {
    name: 'an open page that learns who is identified sends what a later page has left after the rows of that page',
    plan: relayed(
      34_001_830,
      [
        { wait: { ms: 100 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 300 }, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 500 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'offline' } },
        { wait: { ms: 5000 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 20 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: now, action: { verb: 'setProperties', tab: 1 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
      ],
      {
        theme: 'pages',
        dataset: { baseUrl: '/clew', flushInterval: '5000' },
        hasStub: false,
        isSigned: false,
        hasTokens: false,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
  {
    name: 'with a cookie, reset() and another tab’s identify() in one tenth of a second cause no endless transactions',
    plan: relayed(
      60_033_339,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: { ms: 33_811 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: now, action: { verb: 'track', tab: 2, count: 3, name: 'walk' } },
        { wait: { ms: 402 }, action: { verb: 'busyDatabase', ms: 200 } },
        { wait: { tasks: 10 }, action: { verb: 'open', tab: 2 } },
        { wait: { ms: 34 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: now, action: { verb: 'reset', tab: 0 } },
        { wait: { tasks: 7 }, action: { verb: 'track', tab: 0, count: 1, name: 'poison' } },
      ],
      {
        theme: 'tokens',
        dataset: { baseUrl: '/clew', flushInterval: '200', cookieDomain: 'auto' },
        hasStub: false,
        isSigned: true,
        hasTokens: true,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
];
