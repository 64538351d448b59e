import { type Actions, actions as common } from '../actions.ts';
import { recoverStorage } from './storageVerbs.ts';
import type { Theme } from './theme.ts';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

const actions: Actions = {
  ...common,
  fillDisk: [3, () => ({ verb: 'fillDisk', isFull: true })],
  emptyDisk: [3, () => ({ verb: 'fillDisk', isFull: false })],
  limitStorage: [3, (random) => ({ verb: 'limitStorage', most: random.pick([0, 300, 3000, undefined, undefined]) })],
  refuseStorage: [
    3,
    (random) => ({ verb: 'refuseStorage', refusal: random.pick(['nothing', 'nothing', 'database', 'all']) }),
  ],
  hangOpens: [3, (random) => ({ verb: 'hangOpens', ms: random.pick([500, 2500, 5000, 20_000, undefined]) })],
  answerOpens: [2, () => ({ verb: 'hangOpens', ms: 0 })],
  closeConnections: [3, () => ({ verb: 'closeConnections' })],
  setClock: [
    3,
    (random) => ({
      verb: 'setClock',
      ms: random.pick([1, -1]) * random.pick([10_000, 5 * MINUTE, 3 * DAY, 2 * 365 * DAY]),
    }),
  ],
};

/** A browser that refuses storage, has no room or does not answer, or whose clock the visitor sets. */
export const storage: Theme = {
  actions,
  // The bound is low, so that walks reach it.
  dataset: { maxQueuedEvents: '80' },
  recover: recoverStorage,
};
