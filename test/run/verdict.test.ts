import { expect, it } from 'vitest';
import type { Played } from './report.ts';
import { judge, MOST_REPLAYED, replayed } from './verdict.ts';

const played = (title: string, outcome: Played['outcome'], isPromise = false): Played => ({
  name: `a.spec.ts › ${title}`,
  file: 'a.spec.ts',
  title,
  outcome,
  isPromise,
});

const passes = played('passes', 'passed');
const skipped = played('is skipped', 'skipped');
const chance = played('fails by chance', 'failed');
const promise = played('loses an event', 'failed', true);

it('replays a failed test unless it is tagged as a promise', () => {
  expect(replayed([passes, skipped, chance, promise])).toEqual([chance]);
});

it('replays nothing when too many tests fail', () => {
  const failures = Array.from({ length: MOST_REPLAYED + 1 }, (_, index) => played(`${index}`, 'failed'));
  expect(replayed(failures)).toEqual([]);
});

it('calls a test that passed both replays unstable', () => {
  expect(judge([passes, skipped, chance], new Map([[chance, ['passed', 'passed']]]))).toEqual({
    passed: 1,
    failed: [],
    unstable: [chance.name],
    skipped: 1,
    causes: {},
  });
});

it.each([
  ['failed a replay', ['failed', 'passed']],
  ['was skipped in a replay', ['passed', 'skipped']],
  ['was replayed only once', ['passed']],
  ['was never replayed', []],
] as const)('fails a test that %s', (_, outcomes) => {
  expect(judge([chance], new Map([[chance, outcomes]]))).toMatchObject({ failed: [chance.name], unstable: [] });
});

it('fails a broken promise', () => {
  expect(judge([promise], new Map())).toMatchObject({ failed: [promise.name], unstable: [] });
});

it('has the cause of each failure', () => {
  const failures = [{ ...chance, cause: 'Error: late' }, promise];
  expect(judge([passes, ...failures], new Map()).causes).toEqual({ [chance.name]: 'Error: late' });
});
