import { MODERN } from '../../browser/browser.ts';
import { hasConsent, keyed, now, relayed } from '../breakPlans.ts';
import { INVARIANTS } from '../checks.ts';
import { CROSSED } from '../consentChecks.ts';
import type { KnownBreak } from '../knownBreak.ts';

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
      18_523_420,
      [
        { wait: now, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: { tasks: 11 }, action: { verb: 'refuseAndGrant', tab: 0 } },
        { wait: now, action: { verb: 'consent', tab: 1, isGranted: false } },
        { wait: { ms: 2190 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
        { wait: { ms: 40 }, action: { verb: 'refuseAndLeave', tab: 0 } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', maxBatchEvents: '5', consent: 'required' },
      },
    ),
    mayShow: (plan, detail) => hasConsent(plan) && detail.endsWith(CROSSED),
  },
  {
    name: 'a tab consents before it learns of the refusal in another tab: an identify() from before the refusal counts',
    invariant: INVARIANTS.forged,
    source: { docs: 'Opposite answers in two tabs:' },
    plan: relayed(
      578_540,
      [
        { wait: now, action: { verb: 'identify', tab: 0, person: 'bob' } },
        { wait: now, action: { verb: 'open', tab: 1 } },
        { wait: now, action: { verb: 'refuseAndGrant', tab: 1 } },
        { wait: { tasks: 5 }, action: { verb: 'identify', tab: 1, person: 'ann' } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', consent: 'required' },
        hasStub: false,
      },
    ),
    mayShow: (plan, detail) => hasConsent(plan) && detail.endsWith(CROSSED),
  },
];
