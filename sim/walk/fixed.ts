import { MODERN } from '../browser/browser.ts';
import { now, relayed } from './defectPlans.ts';
import type { Plan } from './plan.ts';

/** Walks that showed a defect which is fixed. They break nothing any more. */
export const fixed: readonly { readonly name: string; readonly plan: Plan }[] = [
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
];
