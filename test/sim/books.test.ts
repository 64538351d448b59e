// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { faultIn, runBooks, seedsFrom } from '../../sim/books/run.ts';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';

let scripts: Scripts;
beforeAll(async () => {
  scripts = await loadScripts();
});

/** The outcomes of these walks, one after the other: each one needs a processor. */
const walk = async (seeds: readonly number[], isDeleting: boolean) => {
  const outcomes = [];
  for (const seed of seeds) outcomes.push(await runBooks(scripts, seed, isDeleting));
  return outcomes;
};
const faultsIn = (outcomes: Awaited<ReturnType<typeof walk>>) =>
  outcomes.flatMap((outcome) => (faultIn(outcome) ? `seed ${outcome.seed}: ${faultIn(outcome)}` : []));

it('the books miss exactly the events whose rows were deleted', async () => {
  const outcomes = await walk([...seedsFrom(1, 26), 81, 287, 1248, 1332], true);
  expect(faultsIn(outcomes)).toEqual([]);
  expect(outcomes.filter(({ lost }) => lost[0]).length).toBeGreaterThan(10);
});

it('the books miss nothing where no row is deleted', async () => {
  // In walk 14308, the service still refuses an event at the end, so its page has the event.
  const outcomes = await walk([...seedsFrom(1, 20), 50, 3802, 14_308, 101_536, 101_792], false);
  expect(faultsIn(outcomes)).toEqual([]);
});
