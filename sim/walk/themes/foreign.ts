import { FORMS } from '../../server/foreign.ts';
import { type Actions, actions as common } from '../actions.ts';
import type { Theme } from './theme.ts';

const actions: Actions = {
  ...common,
  foreign: [14, (random) => ({ verb: 'foreign', form: random.pick(FORMS) })],
  fair: [8, () => ({ verb: 'network', kind: 'fair' })],
};

/** Captive portals, CDNs, proxies and service workers answer in place of the relay or the service, in many forms. */
export const foreign: Theme = { actions };
