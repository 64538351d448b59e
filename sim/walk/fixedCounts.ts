import { keyed, now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';

/** Walks after which a page counted or emitted the end of its events wrongly. */
export const fixedCounts: readonly FixedWalk[] = [
  {
    name: 'a page counts and emits an event as delivered once, although another page has stored it, too',
    plan: relayed(
      10362,
      [
        { wait: now, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { tasks: 4 }, action: { verb: 'open', tab: 2 } },
        { wait: { tasks: 8 }, action: { verb: 'show', tab: 1 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
        { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 4, size: 20000 } },
      ],
      {
        isDirect: true,
        features: { hasLocks: true, hasChannel: true, hasFetchLater: false, hasGpc: false },
        dataset: keyed,
        hasStub: false,
      },
    ),
  },
];
