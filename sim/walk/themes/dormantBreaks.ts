import { MODERN } from '../../browser/browser.ts';
import { now, relayed } from '../breakPlans.ts';
import { INVARIANTS } from '../checks.ts';
import type { KnownBreak } from '../knownBreak.ts';

/** Known breaks of walks in which tabs are frozen while the visitor answers. */
export const dormantBreaks: readonly KnownBreak[] = [
  {
    name: "a frozen tab consents before it gets another tab's earlier refusal, which drops its events since",
    invariant: INVARIANTS.dropped,
    source: { docs: 'A refusal that another tab learns of late' },
    plan: relayed(
      31_057_546,
      [
        { wait: now, action: { verb: 'refuseAndLeave', tab: 2 } },
        { wait: { ms: 4872 }, action: { verb: 'duplicate', tab: 0 } },
        { wait: { tasks: 2 }, action: { verb: 'freeze', tab: 2 } },
        { wait: { ms: 0 }, action: { verb: 'activate', tab: 0 } },
        { wait: { tasks: 6 }, action: { verb: 'duplicate', tab: 1 } },
        { wait: { ms: 1319 }, action: { verb: 'track', tab: 1, count: 1, name: 'walk' } },
      ],
      {
        theme: 'dormant',
        features: { ...MODERN, hasFetchLater: false, hasThrottling: true },
        dataset: { baseUrl: '/clew', maxBatchEvents: '5', consent: 'required' },
        hasStub: false,
      },
    ),
    mayShow: ({ theme }, detail) => theme === 'dormant' && detail.endsWith('consent'),
  },
];
