import type { Scripts } from '../bundle.ts';
import { createPlan } from '../walk/createPlan.ts';
import { fixed } from '../walk/fixed.ts';
import { isKnown } from '../walk/knownBreaks.ts';
import type { Plan } from '../walk/plan.ts';
import { runPlan } from '../walk/run.ts';
import type { Broken } from '../world/world.ts';

/** The walk that shows a mutant, and how many walks the search took. */
export interface Hunt {
  /** Number of seeds walked. With `invariant` and without `fixed`, the last seed shows the mutant. */
  readonly seeds: number;
  /** The name of the walk in `fixed.ts` that shows the mutant, if no seed does. */
  readonly fixed?: string;
  readonly invariant?: string;
  readonly detail?: string;
  /** Walks of the mutant and of the unbroken product. */
  readonly walks: number;
}

/** Number of other worlds in which the plan is walked, too. A known break may show in one world by chance. */
const OTHER_WORLDS = 6;
/** The mutant has to break the invariant in at least this many more of these worlds than clew without a mutant. */
const MARGIN = 3;

const worldsOf = (plan: Plan): Plan[] =>
  Array.from({ length: OTHER_WORLDS }, (_, world) => ({ ...plan, seed: 1e6 * (world + 1) + plan.seed }));

/** Walks seed after seed, and then the fixed walks, until the mutant breaks an invariant that clew without a mutant keeps. */
export const createHunt = (plain: Scripts, steps: number) => {
  /** The invariants that clew without a mutant breaks, by plan and world. */
  const known = new Map<string, ReadonlySet<string>>();
  let walks = 0;

  const brokenBy = async (scripts: Scripts, plan: Plan) => {
    walks++;
    return (await runPlan(scripts, plan)).broken;
  };
  const brokenByPlain = async (plan: Plan, name: string): Promise<ReadonlySet<string>> => {
    const key = `${name} ${plan.seed}`;
    const found = known.get(key) ?? new Set((await brokenBy(plain, plan)).map(({ invariant }) => invariant));
    known.set(key, found);
    return found;
  };

  /** Whether the mutant, and not chance, has broken the invariant. */
  const isOwn = async (mutant: Scripts, plan: Plan, broken: Broken): Promise<boolean> => {
    const { invariant } = broken;
    const name = `${plan.seed}`;
    if ((await brokenByPlain(plan, name)).has(invariant)) return false;
    if (!isKnown(plan, broken)) return true;
    let lead = 0;
    for (const world of worldsOf(plan)) {
      if ((await brokenBy(mutant, world)).some((found) => found.invariant === invariant)) lead++;
      if ((await brokenByPlain(world, name)).has(invariant)) lead--;
    }
    return lead >= MARGIN;
  };

  return async (mutant: Scripts, most: number): Promise<Hunt> => {
    walks = 0;
    for (let seed = 1; seed <= most; seed++) {
      const plan = createPlan(seed, steps);
      for (const broken of await brokenBy(mutant, plan))
        if (await isOwn(mutant, plan, broken)) {
          const { invariant, detail } = broken;
          return { seeds: seed, invariant, detail, walks };
        }
    }
    // Without a mutant, clew breaks no invariant in the fixed walks.
    for (const { name, plan } of fixed) {
      const [broken] = await brokenBy(mutant, plan);
      if (broken) return { seeds: most, fixed: name, invariant: broken.invariant, detail: broken.detail, walks };
    }
    return { seeds: most, walks };
  };
};
