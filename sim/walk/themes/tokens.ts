import { type Actions, actions as common, PERSONS } from '../actions.ts';
import type { Theme } from './theme.ts';

const actions: Actions = {
  ...common,
  identify: [12, (random, tab) => ({ verb: 'identify', tab, person: random.pick(PERSONS) })],
  setProperties: [8, (_, tab) => ({ verb: 'setProperties', tab })],
  forge: [2, (random, tab) => ({ verb: 'identify', tab, person: random.pick(PERSONS), isForged: true })],
  changeKeys: [8, (random) => ({ verb: 'changeKeys', kind: random.pick(['adds', 'removes', 'revokes'] as const) })],
};

/** Identity tokens that may expire before they arrive, while the keys of the relay and of the app's server change. */
export const tokens: Theme = {
  actions,
  more: (random) => ({
    isSigned: true,
    hasTokens: true,
    hasStub: false,
    ...(random.fork('tag').chance(0.5) && { npm: { hasOther: false, hasTransport: false } }),
  }),
};
