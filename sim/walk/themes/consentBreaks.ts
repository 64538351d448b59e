import { MODERN } from '../../browser/browser.ts';
import { hasConsent, now, relayed } from '../breakPlans.ts';
import { INVARIANTS } from '../checks.ts';
import { CROSSED } from '../consentChecks.ts';
import type { KnownBreak } from '../knownBreak.ts';

/** Known breaks that walks of the theme `consent` have found. */
export const consentBreaks: readonly KnownBreak[] = [
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
