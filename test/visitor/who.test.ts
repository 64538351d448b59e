// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Visitor, versionAt } from '../../src/visitor/record.ts';
import { changedBy, guess, isSame, meetCall, type Who } from '../../src/visitor/who.ts';
import { identify, reset, SERVICE, track, visitorId, visitorOf } from './visitorOf.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
/** A change by another page that is newer than calls of this time. */
const TURN = versionAt(NOW);
const BEFORE = NOW - 5000;

beforeEach(() => void vi.useFakeTimers({ now: NOW }));
afterEach(() => void vi.useRealTimers());

const knows = (visitor: Visitor, changes: Partial<Who> = {}): Who => ({
  begin: visitor,
  visitor,
  met: visitor,
  number: 3,
  ...changes,
});

describe('two visitors are the same person to a service', () => {
  it.each<[string, Visitor | undefined, boolean]>([
    ['the same visitor id and the same key', visitorOf(1, 9, 'ann', { pages: 4 }), true],
    ['another key', visitorOf(1, 1, 'bob'), false],
    ['no key', visitorOf(1, 1), false],
    ['another visitor id', visitorOf(2, 1, 'ann'), false],
    ['another proof', visitorOf(1, 1, undefined, { keys: { [SERVICE]: ['ann', 'proof'] } }), false],
    [
      'another customer at another service',
      visitorOf(1, 1, 'ann', { keys: { [SERVICE]: ['ann'], '/b': ['bob'] } }),
      true,
    ],
    ['nobody', undefined, false],
  ])('as far as both have them: %s', (_what, other, isExpected) => {
    expect(isSame(visitorOf(1, 1, 'ann'), other, SERVICE)).toBe(isExpected);
  });
});

describe('the guess before the database has answered', () => {
  it('is the visitor of the hint, changed by the calls that wait', () => {
    const here = visitorOf(1, 1);
    const calls = [track('a'), identify('ann', 2)];
    const [who, held] = guess(undefined, here, 'hint', calls, SERVICE);
    expect(held).toEqual(calls);
    expect(who).toMatchObject({ begin: here, met: here, seen: 'hint', number: 0 });
    expect(who.visitor).toMatchObject({ thread: visitorId(1), keys: { [SERVICE]: ['ann', undefined] } });
  });

  it('leaves calls that have waited in the back/forward cache to who the visitor was', () => {
    const [ann, bob] = [visitorOf(1, 1, 'ann'), visitorOf(2, 2, 'bob')];
    const call = track('hers');
    const [who, held] = guess(knows(ann), bob, undefined, [call], SERVICE);
    expect(held).toEqual([call, { visitor: bob }]);
    expect([who.begin, who.visitor.thread, who.met]).toEqual([ann, bob.thread, bob]);
  });

  it('begins with the present visitor if no call has waited', () => {
    const [who, held] = guess(knows(visitorOf(1, 1)), visitorOf(2, 2), undefined, [], SERVICE);
    expect([who.begin, who.visitor, held]).toEqual([visitorOf(2, 2), visitorOf(2, 2), []]);
  });

  it('gives calls that are older than the present visitor an id of their own', () => {
    const here = visitorOf(1, TURN, 'bob', { since: TURN });
    const [who, [call]] = guess(undefined, here, undefined, [track('hers', BEFORE)], SERVICE);
    expect(who.visitor).toEqual(here);
    expect(who.past?.thread).toMatch(/^[\da-f-]{36}$/);
    expect(call?.finished?.[1]).toEqual({ correlationValue: who.past?.thread });
  });
});

describe('a call that comes', () => {
  it('stays as it is if no other page has changed the visitor since', () => {
    const who = knows(visitorOf(1, 1));
    const call = track('a');
    expect(meetCall(who, call, SERVICE)).toEqual([{ ...who, past: undefined }, call]);
  });

  it('is void as a log-out if another page has changed the visitor since', () => {
    const who = knows(visitorOf(1, TURN, 'bob', { since: TURN }));
    const [met, call] = meetCall(who, reset(2, BEFORE), SERVICE);
    expect(call).toBeUndefined();
    expect(met.past?.thread).toBe(visitorId(2));
    expect(meetCall(met, track('hers', BEFORE), SERVICE)[1]?.finished?.[1]).toEqual({ correlationValue: visitorId(2) });
  });

  it('reports what another tab knows, which later calls are compared with', () => {
    const bob = visitorOf(2, TURN, 'bob');
    expect(meetCall(knows(visitorOf(1, 1)), { visitor: bob }, SERVICE)[0].met).toBe(bob);
  });
});

describe('the visitor after a call', () => {
  it('is the same value if nothing changes', () => {
    const who = knows(visitorOf(1, 1, 'ann'));
    expect(changedBy(who, identify('ann', 2), SERVICE)).toBe(who);
  });

  it('is not stored yet if this page has changed it', () => {
    const ann = visitorOf(1, 1, 'ann');
    const after = changedBy(knows(ann, { stored: ann }), reset(2), SERVICE);
    expect([after.visitor.thread, after.stored, after.begin]).toEqual([visitorId(2), ann, ann]);
  });

  it('counts as stored if another tab has changed it', () => {
    const bob = visitorOf(2, 5, 'bob');
    const after = changedBy(knows(visitorOf(1, 1)), { visitor: bob }, SERVICE);
    expect([after.visitor, after.stored]).toEqual([bob, bob]);
  });
});
