import { now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixed.ts';

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
];
