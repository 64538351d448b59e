// @module-tag promise
import { expect, it } from 'vitest';
import { enter, isAway, isLate } from '../../src/courier/desk.ts';
import { take } from '../../src/courier/lease.ts';
import { deskOf } from './deskOf.ts';

it('a pass is late once the state is another value, even an equal one', () => {
  const { desk, pass } = deskOf();
  expect(isLate(desk, pass)).toBe(false);
  enter(desk, pass, 'send');
  expect(isLate(desk, pass)).toBe(false);
  desk.state = { ...desk.state };
  expect(isLate(desk, pass)).toBe(true);
});

it('a step keeps the name of the lease, and not what the step before settles', () => {
  const { desk, pass } = deskOf();
  const settling = { change: take, writes: [] };
  enter(desk, pass, 'read', settling);
  expect(desk.state).toEqual({ holder: 'me', does: 'read', settling });
  enter(desk, pass, 'commit');
  expect(desk.state).toEqual({ holder: 'me', does: 'commit' });
});

it('a page is away only after it has left', () => {
  const { desk, pass } = deskOf();
  expect(isAway(desk)).toBe(false);
  enter(desk, pass, 'send');
  expect(isAway(desk)).toBe(false);
  desk.state = { holder: 'me', does: 'stay away' };
  expect(isAway(desk)).toBe(true);
});
