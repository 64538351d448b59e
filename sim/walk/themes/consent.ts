import { type Actions, actions } from '../actions.ts';
import type { Theme } from './theme.ts';

const answers: Actions = {
  consent: [8, (_, tab) => ({ verb: 'consent', tab, isGranted: true })],
  refuse: [4, (_, tab) => ({ verb: 'consent', tab, isGranted: false })],
  refuseAndGrant: [3, (_, tab) => ({ verb: 'refuseAndGrant', tab })],
  refuseAndLeave: [2, (_, tab) => ({ verb: 'refuseAndLeave', tab })],
  leaveAndGrant: [1, (_, tab) => ({ verb: 'leaveAndGrant', tab })],
};

/** Walks in which a page stores and sends nothing before the visitor consents, and keeps nothing after a refusal. */
export const consent: Theme = { actions: { ...actions, ...answers }, dataset: { consent: 'required' } };
