import { MODERN } from '../browser/browser.ts';
import { INVARIANTS } from './checks.ts';
import type { Defect } from './defect.ts';
import { changesPerson, keyed, now, relayed } from './defectPlans.ts';
import { has } from './plan.ts';

/** Known defects that lose events, repeat them, or send them at the wrong time. */
export const deliveryDefects: readonly Defect[] = [
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
  {
    name: 'events of an open page that waits for its database are stored by another page, under the number of that page',
    invariant: INVARIANTS.order,
    issue: 16,
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
    mayShow: (plan) => changesPerson(plan),
  },
  {
    name: 'an open page waits for its database while another one stores its events: those of a later page come first',
    invariant: INVARIANTS.pages,
    issue: 16,
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
    mayShow: (plan) => changesPerson(plan),
  },
  {
    name: 'direct: what is handed over while the link is not proven is kept, and sent again',
    invariant: INVARIANTS.twice,
    issue: 16,
    plan: relayed(97, [{ wait: { tasks: 0 }, action: { verb: 'stop', tab: 2 } }], {
      theme: 'npm',
      isDirect: true,
      features: { ...MODERN, hasFetchLater: false },
      dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', compress: 'false' },
      hasStub: false,
      npm: { hasOther: true, hasTransport: true },
    }),
    mayShow: ({ isDirect }) => isDirect,
  },
];
