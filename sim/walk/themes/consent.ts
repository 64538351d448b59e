import { type Actions, actions } from '../actions.ts';
import type { Theme } from './theme.ts';

// A refusal makes an identified customer anonymous, so only other walks identify and reset.
const { identify, identifyAndLeave, reset, resetAndLeave, setProperties, ...common } = actions;

const answers: Actions = {
  consent: [8, (_, tab) => ({ verb: 'consent', tab, isGranted: true })],
  refuse: [4, (_, tab) => ({ verb: 'consent', tab, isGranted: false })],
  refuseAndGrant: [3, (_, tab) => ({ verb: 'refuseAndGrant', tab })],
  refuseAndLeave: [2, (_, tab) => ({ verb: 'refuseAndLeave', tab })],
};

/** Walks in which a page stores and sends nothing before the visitor consents, and keeps nothing after a refusal. */
export const consent: Theme = { actions: { ...common, ...answers }, dataset: { consent: 'required' } };
