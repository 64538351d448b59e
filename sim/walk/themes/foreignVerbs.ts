import { type Form, foreignOf, standInFor } from '../../server/foreign.ts';
import type { VerbsOf } from '../stage.ts';

/** Actions of the theme `foreign`. */
export type ForeignAction = {
  /** Another server answers the requests of pages from now on. */
  readonly verb: 'foreign';
  readonly form: Form;
};

export const foreignVerbs: VerbsOf<ForeignAction> = {
  foreign({ network, plan, world }, { form: picked }) {
    const form = standInFor(picked, plan.isDirect);
    world.log('network', () => `another server answers: ${form}`);
    network.conditions = foreignOf(form);
  },
};
