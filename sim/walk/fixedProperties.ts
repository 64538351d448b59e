import { now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';

/** Walks in which older properties of a customer overwrote newer ones. */
export const fixedProperties: readonly FixedWalk[] = [
  {
    name: 'properties that a page sets while those of the page before are on their path arrive after these',
    plan: relayed(
      38,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'setPropertiesAndLeave', tab: 2 } },
        { wait: { ms: 3318 }, action: { verb: 'setPropertiesAndLeave', tab: 2 } },
        { wait: { tasks: 9 }, action: { verb: 'online' } },
        { wait: now, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 7 }, action: { verb: 'navigate', tab: 2 } },
      ],
      {
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'properties that an earlier page could not send arrive before those of a page that leaves',
    plan: relayed(
      30,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'service', status: 503, takes: false } },
        { wait: { tasks: 10 }, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: { ms: 21574 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'setPropertiesAndLeave', tab: 2 } },
      ],
      { features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false }, hasStub: false },
    ),
  },
  {
    name: 'properties of a page that has left arrive in order, though the next page takes in only the later ones and leaves, too',
    plan: relayed(
      2002962,
      [
        { wait: now, action: { verb: 'service', status: 429, takes: true } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'bob' } },
        { wait: { ms: 660 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 17280 }, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: { ms: 3 }, action: { verb: 'slowDisk', isSlow: false } },
        { wait: { tasks: 9 }, action: { verb: 'resetAndLeave', tab: 0 } },
      ],
      {
        theme: 'tokens',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', compress: 'false' },
        hasStub: false,
        isSigned: true,
        hasTokens: true,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
  {
    name: 'properties of a handover are sent in their order again if the relay has forgotten it',
    plan: relayed(
      918010,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 9 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: { ms: 24079 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 2137 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: now, action: { verb: 'close', tab: 0 } },
        { wait: now, action: { verb: 'identify', tab: 1, person: 'bob', isForged: true } },
        { wait: { ms: 8350 }, action: { verb: 'identify', tab: 1, person: 'bob' } },
        { wait: now, action: { verb: 'setProperties', tab: 1 } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'navigate', tab: 1 } },
        { wait: { ms: 4 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 14 }, action: { verb: 'changeKeys', kind: 'adds' } },
      ],
      {
        theme: 'tokens',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', compress: 'false' },
        hasStub: false,
        isSigned: true,
        hasTokens: true,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
  {
    name: 'properties that another page has settled are not sent again by their page, which is back and reads the answer to its last request',
    plan: relayed(
      145,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: { ms: 37 }, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
        { wait: { ms: 32979 }, action: { verb: 'back', tab: 2 } },
      ],
      { features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false }, hasStub: false },
    ),
  },
  {
    name: 'properties of a page that another page has taken in from the journal are not sent again when that page is back from the cache',
    plan: relayed(
      100,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: { ms: 26 }, action: { verb: 'close', tab: 1 } },
        { wait: { tasks: 10 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 9 }, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 4173 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 58 }, action: { verb: 'navigate', tab: 2 } },
        { wait: { tasks: 4 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { tasks: 3 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
        { wait: { ms: 15450 }, action: { verb: 'navigate', tab: 2 } },
        { wait: now, action: { verb: 'back', tab: 0 } },
      ],
      {
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        hasStub: false,
      },
    ),
  },
  {
    name: 'properties of a page that leaves before its database has answered reach the customer',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 8000 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
        { wait: now, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
      ],
      { hasStub: false },
    ),
  },
  {
    name: 'properties that are set after the relay has refused their $identify do not pass those that wait for the next one',
    plan: relayed(
      4_101_098,
      [
        { wait: now, action: { verb: 'identify', tab: 2, person: 'bob', isForged: true } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 510 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'changeKeys', kind: 'revokes' } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'bob' } },
      ],
      {
        theme: 'tokens',
        features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', compress: 'false' },
        hasStub: false,
        isSigned: true,
        hasTokens: true,
      },
    ),
  },
  {
    name: 'properties of a page that leaves do not pass older ones that another tab is sending, also without BroadcastChannel',
    plan: relayed(
      5_105_995,
      [
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 2864 }, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: { tasks: 8 }, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: { ms: 505 }, action: { verb: 'close', tab: 1 } },
        { wait: now, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: { ms: 47 }, action: { verb: 'open', tab: 1 } },
        { wait: { tasks: 6 }, action: { verb: 'setProperties', tab: 2 } },
        { wait: { ms: 13 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
      ],
      {
        theme: 'crashes',
        features: { hasLocks: true, hasChannel: false, hasFetchLater: false, hasGpc: false },
      },
    ),
  },
  {
    name: 'a page without BroadcastChannel does not send properties again that another tab has settled',
    plan: relayed(
      5_300_251,
      [
        { wait: now, action: { verb: 'back', tab: 0 } },
        { wait: { tasks: 11 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: now, action: { verb: 'setProperties', tab: 1 } },
        { wait: { tasks: 10 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 5012 }, action: { verb: 'setProperties', tab: 1 } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 7550 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
      ],
      { features: { hasLocks: true, hasChannel: false, hasFetchLater: true, hasGpc: false } },
    ),
  },
  {
    name: 'properties of a page that leaves early do not pass a handover of the page before',
    plan: relayed(
      5_300_331,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 35 }, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
        { wait: { tasks: 6 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: { tasks: 3 }, action: { verb: 'setPropertiesAndLeave', tab: 2 } },
      ],
      { dataset: { baseUrl: '/clew', maxBatchEvents: '5' }, hasStub: false },
    ),
  },
  {
    name: 'a page that leaves early hands over no properties past those of a request that the page before had in flight as it left',
    plan: relayed(
      11,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 5000 }, action: { verb: 'network', kind: 'slow' } },
        { wait: now, action: { verb: 'setProperties', tab: 0 } },
        { wait: now, action: { verb: 'flush', tab: 0 } },
        { wait: { ms: 20 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { tasks: 1 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: now, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
      ],
      { features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false }, hasStub: false },
    ),
  },
  {
    name: 'a page that comes back, and leaves before the database has answered, sends no properties again that another page has sent',
    plan: relayed(
      1_041_319,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 6000 }, action: { verb: 'navigate', tab: 0 } },
        { wait: { tasks: 8 }, action: { verb: 'setPropertiesAndLeave', tab: 0 } },
        { wait: { ms: 6000 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 6000 }, action: { verb: 'back', tab: 0 } },
        { wait: { tasks: 2 }, action: { verb: 'navigate', tab: 0 } },
      ],
      { theme: 'crashes' },
    ),
  },
  {
    name: 'a tab that has just loaded leaves properties to the visitor id that another tab has begun by reset()',
    plan: relayed(
      5384,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { tasks: 11 }, action: { verb: 'setProperties', tab: 2 } },
        { wait: { tasks: 3 }, action: { verb: 'reset', tab: 2 } },
        { wait: { tasks: 8 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 30_000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
      ],
      { features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false }, hasStub: false },
    ),
  },
  {
    name: 'a page that leaves before the database has answered hands over no properties ahead of older ones',
    plan: relayed(
      20_007_547,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 3086 }, action: { verb: 'kill' } },
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 16 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'crash', tab: 0 } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'bob' } },
        { wait: { tasks: 7 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { ms: 3 }, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
        { wait: { tasks: 2 }, action: { verb: 'identify', tab: 2, person: 'bob' } },
        { wait: { tasks: 8 }, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
      ],
      { theme: 'crashes', dataset: { baseUrl: '/clew', compress: 'false' } },
    ),
  },
  {
    name: 'properties that a page has stored arrive before those that an open page takes in from its journal',
    plan: relayed(
      34_001_830,
      [
        { wait: now, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'navigate', tab: 0 } },
        { wait: now, action: { verb: 'identify', tab: 2, person: 'ann' } },
        { wait: now, action: { verb: 'changeKeys', kind: 'revokes' } },
        { wait: { ms: 30_620 }, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'offline' } },
        { wait: { tasks: 10 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
        { wait: now, action: { verb: 'setProperties', tab: 2 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
      ],
      {
        theme: 'tokens',
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        hasStub: false,
        isSigned: true,
        hasTokens: true,
        npm: { hasOther: false, hasTransport: false },
      },
    ),
  },
  {
    name: 'a page that left during the start of another tab does not give that tab’s number to a third page',
    plan: relayed(
      829_268,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 3000 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 3000 }, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 2 }, action: { verb: 'network', kind: 'slow' } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { ms: 3 }, action: { verb: 'setProperties', tab: 0 } },
        { wait: { tasks: 9 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 8 }, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
        { wait: { ms: 84 }, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
      ],
      {
        hasStub: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew' },
      },
    ),
  },
  {
    name: 'of two pages that leave early, one with an event before its properties, the later one’s properties arrive last',
    plan: relayed(
      214_725,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 3000 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'network', kind: 'hangs' } },
        { wait: now, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
        { wait: { ms: 3 }, action: { verb: 'setPropertiesAndLeave', tab: 1 } },
      ],
      {
        hasStub: false,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
      },
    ),
  },
];
