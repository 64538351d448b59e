import { expect, it } from 'vitest';
import { INVARIANTS } from '../../sim/walk/checks.ts';
import { rateFault, rateFaults } from '../../sim/walk/rates.ts';

it('accepts as many broken walks as the known breaks cause', () => {
  expect(rateFault(INVARIANTS.twice, 45, 3000)).toBeUndefined();
});

it('reports an invariant that breaks more often than the known breaks explain', () => {
  expect(rateFault(INVARIANTS.twice, 183, 2000)).toMatch(/expected about 22: .*: a new defect breaks it, too/);
});

it('asks for a lower rate once a defect is fixed', () => {
  expect(rateFaults([], 3000)).toEqual(
    expect.arrayContaining([expect.stringMatching(/broken in 0 of 3000 walks.*stored once.*lower its rate/)]),
  );
});

it('lets an invariant without a rate break in two walks at most', () => {
  expect(rateFault(INVARIANTS.error, 2, 3000)).toBeUndefined();
  expect(rateFault(INVARIANTS.error, 3, 3000)).toMatch(/new defect/);
});
