import { type Actions, actions as common, PERSONS } from '../actions.ts';
import type { Theme } from './theme.ts';

const actions: Actions = {
  ...common,
  trackNow: [10, (_, tab) => ({ verb: 'trackNow', tab })],
  page: [8, (_, tab) => ({ verb: 'page', tab })],
  askId: [8, (_, tab) => ({ verb: 'askId', tab })],
  forge: [4, (random, tab) => ({ verb: 'identify', tab, person: random.pick(PERSONS), isForged: true })],
};

/**
 * Calls that other walks do not make: `trackNow`, `page` and `correlationValue`. Identities have a right or a wrong
 * signature, or a token that may expire before it arrives.
 */
export const calls: Theme = {
  actions,
  more(random) {
    const isSigned = random.chance(0.5);
    const hasTokens = isSigned && random.chance(0.5);
    return { isSigned, ...(hasTokens && { hasTokens, hasStub: false, npm: { hasOther: false, hasTransport: false } }) };
  },
};
