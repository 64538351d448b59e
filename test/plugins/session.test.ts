import { describe, expect, it } from 'vitest';
import { latest, type Session, sessionAt, sessionIn } from '../../src/plugins/session.ts';

const TIMEOUT = 1000;
const SESSION: Session = { id: 'a', number: 3, at: 5000, campaign: '?utm_source=x', by: 'ann' };
/** The session of an event a moment after that one. */
const next = (
  moment: { at?: number; now?: number; by?: string | undefined; campaign?: string },
  last: Session | undefined = SESSION,
) => {
  const { at = 5500 } = moment;
  return sessionAt(last, { at, now: at, by: 'ann', campaign: undefined, ...moment }, TIMEOUT, () => 'b');
};

describe('a session', () => {
  it.each([
    ['goes on with the next event', {}, ['a', 3]],
    ['ends after the time-out', { at: 6000 }, ['b', 4]],
    ['goes on until the time-out', { at: 5999 }, ['a', 3]],
    ['goes on if the clock is set back', { at: 100 }, ['a', 3]],
    ['ends with another campaign', { campaign: '?utm_source=y' }, ['b', 4]],
    ['goes on with the same campaign', { campaign: '?utm_source=x' }, ['a', 3]],
    ['of another visitor is the first one', { by: 'bob' }, ['b', 1]],
    ['goes on while the visitor id is not known', { by: undefined }, ['a', 3]],
  ] as const)('%s', (_title, moment, [id, number]) => {
    expect(next(moment)).toMatchObject({ id, number });
  });

  it.each([
    ['an event before the last one leaves its time', { at: 4800, now: 5500 }, 5000],
    ['an event after the last one moves its time on', { at: 5200, now: 5500 }, 5200],
    ['a clock that was set back sets its time back', { at: 100, now: 100 }, 100],
    ['an event of the past ends at the present', { at: 100, now: 4000 }, 4000],
  ])('%s', (_title, moment, at) => {
    expect(next(moment)).toMatchObject({ id: 'a', at });
  });

  it('keeps its visitor and its campaign, and learns of the visitor', () => {
    expect(next({ by: undefined })).toMatchObject({ by: 'ann', campaign: '?utm_source=x', at: 5500 });
    expect(next({}, { ...SESSION, by: undefined })).toMatchObject({ id: 'a', by: 'ann' });
    expect(sessionAt(undefined, { at: 1, now: 1, by: undefined, campaign: undefined }, TIMEOUT, () => 'b')).toEqual({
      id: 'b',
      number: 1,
      at: 1,
    });
  });

  it('is that of the later event if the store and the page know different ones', () => {
    const later = { ...SESSION, id: 'later', at: 6000 };
    expect([
      latest(SESSION, later),
      latest(later, SESSION),
      latest(undefined, later),
      latest(later, undefined),
    ]).toEqual([later, later, later, later]);
  });

  it.each([
    undefined,
    null,
    'text',
    [],
    {},
    { ...SESSION, id: 1 },
    { ...SESSION, number: 'x' },
    { ...SESSION, at: null },
  ])('is not read from %j', (stored) => expect(sessionIn(stored)).toBeUndefined());
});
