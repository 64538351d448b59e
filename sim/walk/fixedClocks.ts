import { now, relayed } from './breakPlans.ts';
import type { FixedWalk } from './fixedWalk.ts';

const DAY = 86_400_000;

/** Walks whose visitor has a wrong clock. */
export const fixedClocks: readonly FixedWalk[] = [
  {
    name: 'the relay corrects a clock that is two years ahead',
    plan: relayed(
      1,
      [
        { wait: now, action: { verb: 'setClock', ms: 730 * DAY } },
        { wait: { ms: 10 }, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 3000 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 3000 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 3000 }, action: { verb: 'flush', tab: 0 } },
      ],
      { theme: 'storage' },
    ),
  },
  {
    name: 'the relay corrects what a page has left by the offset of that page, and not by that of the next one',
    plan: relayed(
      2,
      [
        { wait: now, action: { verb: 'setClock', ms: -3 * DAY } },
        { wait: { ms: 10 }, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 100 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 10_000 }, action: { verb: 'offline' } },
        { wait: { ms: 1000 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 1000 }, action: { verb: 'close', tab: 0 } },
        { wait: { ms: 40_000 }, action: { verb: 'setClock', ms: 3 * DAY } },
        { wait: now, action: { verb: 'online' } },
        { wait: now, action: { verb: 'open', tab: 0 } },
      ],
      { theme: 'storage' },
    ),
  },
  {
    name: 'a clock that is set back during a page load changes no order',
    plan: relayed(
      3,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 100 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 10_000 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 1000 }, action: { verb: 'setClock', ms: -3 * DAY } },
        { wait: { ms: 1000 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 10_000 }, action: { verb: 'flush', tab: 0 } },
      ],
      { theme: 'storage' },
    ),
  },
  {
    name: 'a batch that the browser sends after the crash of a frozen page has the times of its calls',
    plan: relayed(
      4,
      [
        { wait: now, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 100 }, action: { verb: 'network', kind: 'hangs' } },
        { wait: { ms: 100 }, action: { verb: 'track', tab: 0, count: 1, name: 'walk' } },
        { wait: { ms: 200 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
        { wait: { ms: 150 }, action: { verb: 'freeze', tab: 0 } },
        { wait: { ms: 600_000 }, action: { verb: 'network', kind: 'fair' } },
        { wait: now, action: { verb: 'discard', tab: 0 } },
        { wait: { ms: 1000 }, action: { verb: 'open', tab: 1 } },
      ],
      { theme: 'pages' },
    ),
  },
  {
    name: 'the relay corrects what a page hands over in its only request',
    plan: relayed(
      5,
      [
        { wait: now, action: { verb: 'setClock', ms: -3 * DAY } },
        { wait: { ms: 10 }, action: { verb: 'open', tab: 0 } },
        { wait: { ms: 3000 }, action: { verb: 'trackAndLeave', tab: 0, count: 2 } },
        { wait: { ms: 3000 }, action: { verb: 'track', tab: 0, count: 2, name: 'walk' } },
      ],
      { theme: 'storage', hasStub: false },
    ),
  },
];
