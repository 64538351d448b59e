import type { Plan } from './plan.ts';

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
