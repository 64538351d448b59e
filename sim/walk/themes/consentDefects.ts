import { MODERN } from '../../browser/browser.ts';
import { INVARIANTS } from '../checks.ts';
import type { Defect } from '../defect.ts';
import { hasConsent, keyed, now, relayed } from '../defectPlans.ts';
import { has } from '../plan.ts';

/** A page is in the back/forward cache while another one passes a grant on. */
const grantedMeanwhile = relayed(
  43314,
  [
    { wait: now, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
    { wait: { tasks: 3 }, action: { verb: 'trackAndLeave', tab: 1, count: 3 } },
    { wait: now, action: { verb: 'consent', tab: 2, isGranted: true } },
    { wait: { ms: 426 }, action: { verb: 'back', tab: 2 } },
    { wait: { tasks: 11 }, action: { verb: 'trackAndLeave', tab: 2, count: 3 } },
  ],
  { theme: 'consent', dataset: { baseUrl: '/clew', maxBatchEvents: '5', consent: 'required' } },
);

/** Defects that walks of the theme `consent` have found. */
export const consentDefects: readonly Defect[] = [
  {
    name: 'two tabs pass contradicting answers within a millisecond: one goes on although the last answer was a refusal',
    invariant: INVARIANTS.left,
    issue: 16,
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
    mayShow: hasConsent,
  },
  {
    name: 'two tabs pass contradicting answers within a millisecond: one sends although the last answer was a refusal',
    invariant: INVARIANTS.sent,
    issue: 16,
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
    mayShow: hasConsent,
  },
  {
    name: 'a page that comes back from the back/forward cache does not learn of a grant, and its events wait',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: grantedMeanwhile,
    mayShow: (plan, detail) => hasConsent(plan) && has(plan, 'back') && detail.startsWith('walk'),
  },
  {
    name: 'a page that comes back from the back/forward cache does not learn of a grant, and hands nothing over',
    invariant: INVARIANTS.handover,
    issue: 16,
    plan: grantedMeanwhile,
    mayShow: (plan) => hasConsent(plan) && has(plan, 'back'),
  },
  {
    name: 'a page that comes back from the back/forward cache does not learn of a refusal, and a later grant sends its events',
    invariant: INVARIANTS.undead,
    issue: 16,
    plan: relayed(
      69400,
      [
        { wait: now, action: { verb: 'trackAndLeave', tab: 2, count: 1 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
        { wait: { tasks: 7 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 5 }, action: { verb: 'navigate', tab: 1 } },
        { wait: now, action: { verb: 'refuseAndLeave', tab: 0 } },
        { wait: { ms: 1019 }, action: { verb: 'back', tab: 2 } },
        { wait: { tasks: 2 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      ],
      {
        theme: 'consent',
        features: { ...MODERN, hasFetchLater: false },
        dataset: { baseUrl: '/clew', flushInterval: '200', compress: 'false', consent: 'required' },
      },
    ),
    mayShow: (plan) => hasConsent(plan) && has(plan, 'back'),
  },
  {
    name: 'a tab that refuses and grants in one task sends while another one waits for an answer',
    invariant: INVARIANTS.lease,
    issue: 16,
    plan: relayed(
      437,
      [
        { wait: { tasks: 0 }, action: { verb: 'consent', tab: 0, isGranted: true } },
        { wait: { tasks: 0 }, action: { verb: 'open', tab: 2 } },
        { wait: { ms: 674 }, action: { verb: 'track', tab: 2, count: 1, name: 'poison' } },
        { wait: { tasks: 9 }, action: { verb: 'refuseAndGrant', tab: 1 } },
        { wait: { tasks: 0 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      ],
      {
        theme: 'consent',
        isDirect: true,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: true },
        dataset: { baseUrl: 'https://service.example', apiKey: 'sim-key', consent: 'granted', respectGpc: 'true' },
        hasStub: true,
      },
    ),
    mayShow: hasConsent,
  },
];
