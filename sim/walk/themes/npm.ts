import { actions, PERSONS } from '../actions.ts';
import type { Theme } from './theme.ts';

/** Pages that import clew from npm: two services, listeners, a filter and a transport. Some keep the script tag. */
export const npm: Theme = {
  actions: {
    ...actions,
    trackOther: [14, (random, tab) => ({ verb: 'trackOther', tab, count: 1 + random.below(3) })],
    setProperties: [10, (_, tab) => ({ verb: 'setProperties', tab })],
    identifyInTurn: [
      14,
      (random, tab) => ({
        verb: 'identifyInTurn',
        tab,
        person: random.pick(PERSONS),
        ms: Math.round(random.between(0, 500)),
      }),
    ],
    trickle: [1.5, (random, tab) => ({ verb: 'trickle', tab, ms: Math.round(random.between(20_000, 60_000)) })],
    stop: [2, (_, tab) => ({ verb: 'stop', tab })],
    listen: [
      8,
      (random, tab) => ({
        verb: 'listen',
        tab,
        signal: random.pick(['delivered', 'delivered', 'dropped', 'error'] as const),
        reaction: random.pick(['throws', 'tracks', 'identifies', 'flushes', 'stops'] as const),
      }),
    ],
    beforeSend: [
      4,
      (random) => ({ verb: 'beforeSend', kind: random.pick(['keeps', 'keeps', 'drops', 'throws', 'spoils'] as const) }),
    ],
    transport: [
      3,
      (random) => ({ verb: 'transport', kind: random.pick(['rejects', 'rejectsLate', 'throws', 'refuses'] as const) }),
    ],
    transportPasses: [3, () => ({ verb: 'transport', kind: 'passes' })],
  },
  more(random) {
    if (random.chance(0.2)) return {};
    return { hasStub: false, npm: { hasOther: random.chance(0.6), hasTransport: random.chance(0.4) } };
  },
};
