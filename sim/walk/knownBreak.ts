import type { Plan } from './plan.ts';

/** A walk that breaks an invariant: a limit that the docs name, or a defect that an open issue is to fix. */
export interface KnownBreak {
  readonly name: string;
  readonly invariant: string;
  /** The bold words in the docs that name the limit, or the number of the issue. */
  readonly source: { readonly docs: string } | { readonly issue: number };
  /** The shortest walk that shows it. */
  readonly plan: Plan;
  /** Whether a random walk may show it, so that the walk does not fail the run. `detail` is the report of the check. */
  readonly mayShow: (plan: Plan, detail: string) => boolean;
}
