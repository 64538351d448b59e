import { MODERN } from '../../browser/browser.ts';
import { hasConsent, keyed, now, relayed } from '../breakPlans.ts';
import { INVARIANTS } from '../checks.ts';
import { CROSSED, ERASED_LATE } from '../consentChecks.ts';
import type { KnownBreak } from '../knownBreak.ts';
import { has } from '../plan.ts';

/** Known breaks that walks of the theme `consent` have found. */
export const consentBreaks: readonly KnownBreak[] = [
  {
    name: 'two tabs pass contradicting answers within a millisecond: one goes on although the last answer was a refusal',
    invariant: INVARIANTS.left,
    source: { docs: 'Opposite answers in two tabs:' },
    plan: relayed(
      2123,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: false } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { ms: 363 }, action: { verb: 'consent', tab: 1, isGranted: true } },
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: false } },
        { wait: { ms: 17_109 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
      ],
      {
        theme: 'consent',
        isDirect: true,
        features: { ...MODERN, hasLocks: false, hasFetchLater: false },
        dataset: { ...keyed, consent: 'required' },
      },
    ),
    mayShow: (plan, detail) => hasConsent(plan) && detail.endsWith(CROSSED),
  },
  {
    name: 'two tabs pass contradicting answers within a millisecond: one sends although the last answer was a refusal',
    invariant: INVARIANTS.sent,
    source: { docs: 'Opposite answers in two tabs:' },
    plan: relayed(
      5292,
      [
        { wait: now, action: { verb: 'consent', tab: 0, isGranted: true } },
        { wait: now, action: { verb: 'open', tab: 2 } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: now, action: { verb: 'consent', tab: 1, isGranted: false } },
        { wait: { ms: 35_212 }, action: { verb: 'trackAndLeave', tab: 1, count: 2 } },
        { wait: { ms: 5 }, action: { verb: 'refuseAndGrant', tab: 0 } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasLocks: false },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', consent: 'required' },
        hasStub: false,
      },
    ),
    mayShow: (plan, detail) => hasConsent(plan) && detail.endsWith(CROSSED),
  },
  {
    name: 'a tab refuses and consents at once: another one erases a moment later what it has stored since',
    invariant: INVARIANTS.order,
    source: { docs: 'A refusal and a consent at once:' },
    plan: relayed(
      12,
      [
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 11 }, action: { verb: 'consent', tab: 2, isGranted: false } },
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 2 } },
        { wait: { tasks: 0 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
        { wait: { ms: 27 }, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
        { wait: { ms: 0 }, action: { verb: 'trackAndLeave', tab: 0, count: 3 } },
        { wait: { ms: 54 }, action: { verb: 'refuseAndGrant', tab: 2 } },
        { wait: { ms: 2 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { tasks: 6 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: { ms: 33663 }, action: { verb: 'service', status: undefined, takes: false } },
      ],
      {
        theme: 'consent',
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: true },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', compress: 'false', consent: 'granted', respectGpc: 'true' },
      },
    ),
    mayShow: (plan) => has(plan, 'refuseAndGrant'),
  },
  {
    name: 'the database does not answer while a visitor refuses and consents: a tab erases, once it answers, what another one has stored since',
    invariant: INVARIANTS.lost,
    source: { docs: 'A refusal and a consent at once:' },
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
    mayShow: (plan, detail) => hasConsent(plan) && detail.endsWith(ERASED_LATE),
  },
];
