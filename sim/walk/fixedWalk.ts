import type { Plan } from './plan.ts';

/** A walk that showed a defect. The walk's name states the correct behaviour. */
export interface FixedWalk {
  readonly name: string;
  readonly plan: Plan;
}
