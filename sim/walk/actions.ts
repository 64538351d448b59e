import type { Random } from '../world/random.ts';
import type { Action } from './plan.ts';

/** The weight of each action in the random choice, and the function that makes the action. */
export type Actions = Readonly<
  Record<string, readonly [weight: number, make: (random: Random, tab: number) => Action]>
>;

export const PERSONS = ['ann', 'bob'];
const STATUSES = [500, 503, 429, 401, 404, 413];

export const actions: Actions = {
  track: [
    24,
    (random, tab) => ({ verb: 'track', tab, count: random.chance(0.1) ? 60 : 1 + random.below(4), name: 'walk' }),
  ],
  poison: [1, (_, tab) => ({ verb: 'track', tab, count: 1, name: 'poison' })],
  trackAndLeave: [
    8,
    (random, tab) => ({
      verb: 'trackAndLeave',
      tab,
      // Together, these payloads are longer than the 64 KiB that a browser sends for a page that leaves.
      ...(random.chance(0.15) ? { count: 4, size: 20_000 } : { count: 1 + random.below(3) }),
    }),
  ],
  navigate: [6, (_, tab) => ({ verb: 'navigate', tab })],
  back: [4, (_, tab) => ({ verb: 'back', tab })],
  open: [3, (_, tab) => ({ verb: 'open', tab })],
  close: [2, (_, tab) => ({ verb: 'close', tab })],
  identify: [6, (random, tab) => ({ verb: 'identify', tab, person: random.pick(PERSONS) })],
  identifyAndLeave: [2, (random, tab) => ({ verb: 'identifyAndLeave', tab, person: random.pick(PERSONS) })],
  reset: [3, (_, tab) => ({ verb: 'reset', tab })],
  resetAndLeave: [1, (_, tab) => ({ verb: 'resetAndLeave', tab })],
  setProperties: [3, (_, tab) => ({ verb: 'setProperties', tab })],
  flush: [3, (_, tab) => ({ verb: 'flush', tab })],
  hide: [2, (_, tab) => ({ verb: 'hide', tab })],
  show: [2, (_, tab) => ({ verb: 'show', tab })],
  crash: [2, (_, tab) => ({ verb: 'crash', tab })],
  kill: [1, () => ({ verb: 'kill' })],
  offline: [2, () => ({ verb: 'offline' })],
  online: [3, () => ({ verb: 'online' })],
  restartRelay: [1, () => ({ verb: 'restartRelay' })],
  clearDatabase: [0.3, () => ({ verb: 'clearDatabase' })],
  fair: [4, () => ({ verb: 'network', kind: 'fair' })],
  network: [4, (random) => ({ verb: 'network', kind: random.pick(['slow', 'lossy', 'foreign', 'hangs'] as const) })],
  service: [
    4,
    (random) => ({
      verb: 'service',
      status: random.pick(STATUSES),
      takes: random.chance(0.2),
      ...(random.chance(0.2) && { retryAfter: '30' }),
    }),
  ],
  serviceWell: [4, () => ({ verb: 'service', status: undefined, takes: false })],
  busyDatabase: [2, (random) => ({ verb: 'busyDatabase', ms: random.pick([20, 200, 4000]) })],
  slowDisk: [1, (random) => ({ verb: 'slowDisk', isSlow: random.chance(0.5) })],
};
