import { MODERN } from '../browser/browser.ts';
import { INVARIANTS } from './checks.ts';
import type { Defect } from './defect.ts';
import { direct, now, relayed } from './defectPlans.ts';
import { has, hasRefusals } from './plan.ts';

/** Known defects that lose events, repeat them, or send them at the wrong time. */
export const deliveryDefects: readonly Defect[] = [
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
    name: 'after the site has deleted IndexedDB, a page that came back from the back/forward cache does not store its events again',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      34406,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: now, action: { verb: 'offline' } },
        { wait: { ms: 775 }, action: { verb: 'back', tab: 2 } },
        { wait: { ms: 462 }, action: { verb: 'busyDatabase', ms: 20 } },
        { wait: now, action: { verb: 'clearDatabase' } },
      ],
      { features: { ...MODERN, hasFetchLater: false } },
    ),
    mayShow: (plan, detail) => has(plan, 'clearDatabase') && has(plan, 'back') && detail.startsWith('walk'),
  },
];
