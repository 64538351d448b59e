import { direct, now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';
import type { Step } from './plan.ts';

const features = { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false };
const track = (ms: number, count = 1): Step => ({
  wait: { ms },
  action: { verb: 'track', tab: 0, count, name: 'walk' },
});

/** Short walks of ordinary calls. Each of them finds a mutant that longer walks often excuse. */
export const fixedPlain: readonly FixedWalk[] = [
  {
    name: 'events are stored a quarter of a second after their calls, and survive a crash',
    plan: relayed(1, [track(0), track(5000, 3), { wait: { ms: 250 }, action: { verb: 'crash', tab: 0 } }], {
      features,
      hasStub: false,
    }),
  },
  {
    name: 'without a relay, a page that has no answer yet keeps what it hands over',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'network', kind: 'hangs' } },
        track(100),
        track(1000, 3),
        { wait: { ms: 500 }, action: { verb: 'close', tab: 0 } },
        { wait: { ms: 100_000 }, action: { verb: 'network', kind: 'fair' } },
      ],
      { ...direct, features },
    ),
  },
  {
    name: 'a service that answers 500 for two minutes costs no event',
    plan: relayed(
      1,
      [
        track(0),
        { wait: { ms: 5000 }, action: { verb: 'service', status: 500, takes: false } },
        track(5000, 2),
        { wait: { ms: 120_000 }, action: { verb: 'service', status: undefined, takes: false } },
        track(1000),
      ],
      { features, hasStub: false },
    ),
  },
  {
    name: 'events after identify() have the visitor id of their $identify',
    plan: relayed(
      1,
      [
        track(0),
        { wait: { ms: 5000 }, action: { verb: 'identify', tab: 0, person: 'ann' } },
        track(5000, 3),
        { wait: { ms: 5000 }, action: { verb: 'navigate', tab: 0 } },
        track(5000, 3),
        { wait: { ms: 5000 }, action: { verb: 'identify', tab: 0, person: 'bob' } },
        track(5000, 3),
      ],
      { features, hasStub: false },
    ),
  },
  {
    name: 'a tab that closes as another one refuses leaves no visitor id behind',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: true } },
        { wait: { ms: 5000 }, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 5000 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 5000 }, action: { verb: 'consent', tab: 0, isGranted: false } },
        { wait: now, action: { verb: 'close', tab: 1 } },
        { wait: { ms: 20_000 }, action: { verb: 'hide', tab: 0 } },
        { wait: { ms: 20_000 }, action: { verb: 'show', tab: 0 } },
      ],
      { theme: 'consent', features, hasStub: false, dataset: { baseUrl: '/clew', consent: 'required' } },
    ),
  },
  {
    name: 'a page that logs out and leaves before the database has answered tracks for no person',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'ann' } },
        { wait: { ms: 8000 }, action: { verb: 'navigate', tab: 0 } },
        { wait: now, action: { verb: 'reset', tab: 0 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: { ms: 60_000 }, action: { verb: 'hide', tab: 0 } },
      ],
      { features, hasStub: false },
    ),
  },
  {
    name: 'a page that has set an event aside which another page then sends passes over no other event',
    plan: relayed(
      1_533,
      [
        { wait: { tasks: 0 }, action: { verb: 'service', status: 500, takes: true } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 485 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
        { wait: { ms: 2333 }, action: { verb: 'navigate', tab: 2 } },
        { wait: { tasks: 7 }, action: { verb: 'slowDisk', isSlow: false } },
        { wait: { tasks: 5 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: { tasks: 0 }, action: { verb: 'reset', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'online' } },
        { wait: { tasks: 0 }, action: { verb: 'service', status: undefined, takes: false } },
        { wait: { ms: 686 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { tasks: 0 }, action: { verb: 'back', tab: 0 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      ],
      {
        features: { hasLocks: true, hasChannel: false, hasFetchLater: true, hasGpc: false },
        dataset: { baseUrl: '/clew', flushInterval: '200' },
        hasStub: false,
      },
    ),
  },
];
