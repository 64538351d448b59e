import { type Actions, actions } from '../actions.ts';
import type { Theme } from './theme.ts';

// A refusal makes somebody who was identified a stranger: who is who is left to other walks.
const { identify, identifyAndLeave, reset, resetAndLeave, setProperties, ...common } = actions;

const answers: Actions = {
  consent: [8, (_, tab) => ({ verb: 'consent', tab, isGranted: true })],
  refuse: [4, (_, tab) => ({ verb: 'consent', tab, isGranted: false })],
  refuseAndGrant: [3, (_, tab) => ({ verb: 'refuseAndGrant', tab })],
  refuseAndLeave: [2, (_, tab) => ({ verb: 'refuseAndLeave', tab })],
};

/** Nothing is stored or sent before the visitor agrees, and nothing is left after a refusal. */
export const consent: Theme = { actions: { ...common, ...answers }, dataset: { consent: 'required' } };
