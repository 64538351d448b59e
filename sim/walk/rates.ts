import { INVARIANTS } from './checks.ts';

/**
 * In how many of 1,000 walks the known breaks break an invariant, measured with `npm run sim -- --seeds 100000 --from 36000001`. For
 * `queued`, about 10,000 walks were measured. A random walk does not show its defect, so a new defect that breaks the
 * same invariant shows in this number only.
 */
const RATES: Readonly<Record<string, number>> = {
  [INVARIANTS.twice]: 11,
  [INVARIANTS.logout]: 0.8,
  [INVARIANTS.person]: 0.6,
  [INVARIANTS.queued]: 0.1,
  [INVARIANTS.dropped]: 0.06,
  [INVARIANTS.lease]: 0.04,
};
/** Chance moves a count by less than this number of standard deviations. */
const DEVIATIONS = 4;
/** Number of walks in which chance may break an invariant even if its rate is about 0. */
const RARE = 2;

/**
 * Compares the number of walks that broke an invariant with the rate of the known breaks. Returns the fault, or undefined
 * if the number is within the margin.
 */
export const rateFault = (invariant: string, broken: number, walks: number): string | undefined => {
  const expected = ((RATES[invariant] ?? 0) * walks) / 1000;
  const margin = DEVIATIONS * Math.sqrt(expected) + RARE;
  const said = `broken in ${broken} of ${walks} walks, expected about ${expected.toFixed(0)}: ${invariant}`;
  if (broken > expected + margin) return `${said}: a new defect breaks it, too`;
  if (broken < expected - margin) return `${said}: lower its rate in sim/walk/rates.ts`;
  return undefined;
};

/** The faults of all rates. `broken` lists an invariant once for each walk that broke it. */
export const rateFaults = (broken: readonly string[], walks: number): string[] =>
  [...new Set([...Object.keys(RATES), ...broken])].flatMap((invariant) => {
    const count = broken.filter((one) => one === invariant).length;
    return rateFault(invariant, count, walks) ?? [];
  });
