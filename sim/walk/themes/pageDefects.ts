import { INVARIANTS } from '../checks.ts';
import type { Defect } from '../defect.ts';
import { leaves, now, relayed } from '../defectPlans.ts';
import { has } from '../plan.ts';

/** Defects that walks of the theme `pages` have found. */
export const pageDefects: readonly Defect[] = [
  {
    name: 'a prerendered page takes over the calls of a page that left too soon, and they are lost when it is given up',
    invariant: INVARIANTS.lost,
    issue: 16,
    plan: relayed(
      4,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 5000 }, action: { verb: 'navigate', tab: 1 } },
        { wait: { tasks: 1 }, action: { verb: 'trackAndLeave', tab: 1, count: 1 } },
        { wait: now, action: { verb: 'prerender', tab: 0, count: 0 } },
        { wait: { ms: 20_000 }, action: { verb: 'cancelPrerender', tab: 0 } },
      ],
      { theme: 'pages' },
    ),
    mayShow: (plan) => plan.hasStub && has(plan, 'prerender') && (leaves(plan) || has(plan, 'activate')),
  },
];
