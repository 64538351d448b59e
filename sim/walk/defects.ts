import type { Broken } from '../world/world.ts';
import { deliveryDefects } from './deliveryDefects.ts';
import { npmDefects } from './npm/defects.ts';
import { personDefects } from './personDefects.ts';
import type { Plan } from './plan.ts';
import { consentDefects } from './themes/consentDefects.ts';
import { pageDefects } from './themes/pageDefects.ts';
import { storageDefects } from './themes/storageDefects.ts';

/** A defect that the simulator has found and that an open issue is to fix. */
export interface Defect {
  readonly name: string;
  readonly invariant: string;
  /** Number of the issue whose fix removes the entry. */
  readonly issue: number;
  /** The shortest walk that shows it. It is an expected failure. */
  readonly plan: Plan;
  /** Random walks that may show it, so that they do not fail the run. `detail` is what the check has found. */
  readonly mayShow: (plan: Plan, detail: string) => boolean;
}

export const defects: readonly Defect[] = [
  ...personDefects,
  ...deliveryDefects,
  ...consentDefects,
  ...npmDefects,
  ...storageDefects,
  ...pageDefects,
];

/** Whether a known defect explains what this walk broke. */
export const isKnown = (plan: Plan, { invariant, detail }: Pick<Broken, 'invariant' | 'detail'>): boolean =>
  defects.some((defect) => defect.invariant === invariant && defect.mayShow(plan, detail));
