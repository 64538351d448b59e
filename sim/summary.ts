import type { Finding } from './worker.ts';

const MOST_SEEDS = 8;

const seedsOf = (findings: readonly Finding[]): string => {
  const seeds = findings.map(({ seed }) => seed);
  return `${seeds.slice(0, MOST_SEEDS).join(', ')}${seeds.length > MOST_SEEDS ? ', …' : ''}`;
};

/**
 * A line for each invariant that broke: in how many walks, and in which ones no known break explains it.
 *
 * @param unknown those of `findings` that no known break explains
 */
export const summarise = (findings: readonly Finding[], unknown: readonly Finding[]): string => {
  const invariants = [...new Set(findings.map(({ invariant }) => invariant))].sort();
  const lines = invariants.flatMap((name) => {
    const all = findings.filter(({ invariant }) => invariant === name);
    const other = unknown.filter(({ invariant }) => invariant === name);
    return [
      `broken in ${all.length} walks: ${name} (seeds ${seedsOf(all)})`,
      ...other
        .slice(0, MOST_SEEDS)
        .map(({ seed, detail }) => `  not a known break: npm run sim -- --seed ${seed}: ${detail}`),
    ];
  });
  return lines.join('\n') || 'no invariant broke';
};
