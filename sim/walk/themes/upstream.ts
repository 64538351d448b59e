import { FAIR } from '../../server/network.ts';
import { type Actions, actions as common } from '../actions.ts';
import type { Theme } from './theme.ts';
import type { Upstream } from './upstreamVerbs.ts';

const FAULTS: readonly Upstream[] = ['slow', 'lostBefore', 'lostAfter', 'lossy', 'foreign', 'unavailable', 'hangs'];

const actions: Actions = {
  ...common,
  upstream: [14, (random) => ({ verb: 'upstream', kind: random.pick(FAULTS) })],
  upstreamFair: [6, () => ({ verb: 'upstream', kind: 'fair' })],
};

/** The network between the relay and the service loses, delays and answers requests. */
export const upstream: Theme = {
  actions,
  recover({ inner }) {
    inner.conditions = FAIR;
  },
};
