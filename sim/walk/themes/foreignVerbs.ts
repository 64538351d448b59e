import { type Form, foreignOf } from '../../server/foreign.ts';
import type { VerbsOf } from '../stage.ts';

/** Actions of the theme `foreign`. */
export type ForeignAction = {
  /** Another server answers the requests of pages from now on. */
  readonly verb: 'foreign';
  readonly form: Form;
};

export const foreignVerbs: VerbsOf<ForeignAction> = {
  foreign({ network, plan, world }, { form }) {
    world.log('network', () => `another server answers: ${form}`);
    network.conditions = foreignOf(form, plan.isDirect);
  },
};
