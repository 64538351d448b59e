// @module-tag promise
import { describe, expect, it } from 'vitest';
import type { Call } from '../../src/visitor/calls.ts';
import { finish } from '../../src/visitor/calls.ts';
import { AT_ONCE, decide } from '../../src/visitor/decide.ts';
import { type Visitor, versionAt } from '../../src/visitor/record.ts';
import type { Who } from '../../src/visitor/who.ts';
import { identify, nameOf, reset, SERVICE, track, upsert, visitorId, visitorOf } from './visitorOf.ts';

/** Decides about a page that has assumed the visitor `begin`. */
const run = (
  begin: Visitor,
  calls: readonly Call[],
  base: Visitor | undefined,
  { hinted = begin as Visitor | undefined, number = 0, meet = (visitor: Visitor) => visitor } = {},
) => {
  const mine: Who = { begin, visitor: finish(begin, calls, SERVICE)[0], met: begin, seen: 'hint', number };
  const [who, items, rest] = decide(mine, calls, base, hinted, meet, SERVICE);
  const owners = items.map(([text, known]) => `${nameOf(text)}: ${known?.correlationValue ?? known?.primary_key}`);
  return { who, visitor: who.visitor, owners, rest };
};

describe('without a record', () => {
  it('the assumed visitor is the visitor, on the first page load', () => {
    const { who, owners, rest } = run(visitorOf(1, 5), [track('a')], undefined);
    expect(who).toMatchObject({ number: 1, seen: 'hint', begin: { ...visitorOf(1, 5), pages: 1 } });
    expect(who.visitor).toBe(who.begin);
    expect([owners, rest]).toEqual([[`a: ${visitorId(1)}`], []]);
  });

  it('the visitor of other hosts counts before the calls that wait', () => {
    const { visitor, owners } = run(visitorOf(1, 5), [track('a')], undefined, { meet: () => visitorOf(2, 6) });
    expect([visitor.thread, owners]).toEqual([visitorId(2), [`a: ${visitorId(2)}`]]);
  });
});

describe('the page load', () => {
  it('has a number above those of the record and of the page', () => {
    expect(run(visitorOf(1, 5), [], visitorOf(1, 5, undefined, { pages: 7 })).who).toMatchObject({
      number: 8,
      visitor: { pages: 8 },
    });
    expect(run(visitorOf(1, 5, undefined, { pages: 9 }), [], visitorOf(1, 5)).who.number).toBe(10);
    // Also if the site has deleted its data, and another visitor has begun.
    expect(run(visitorOf(1, 5, undefined, { pages: 9 }), [], visitorOf(2, 5)).who.number).toBe(10);
  });

  it('has a number above that of the hint: a page that left may have written an older record', () => {
    const hinted = visitorOf(1, 5, undefined, { pages: 9 });
    expect(run(visitorOf(1, 5), [], visitorOf(1, 5, undefined, { pages: 7 }), { hinted }).who.number).toBe(10);
  });

  it('keeps the number that it has', () => {
    const { who } = run(visitorOf(1, 5), [], visitorOf(1, 5, undefined, { pages: 7 }), { number: 3 });
    expect([who.number, who.visitor.pages]).toEqual([3, 7]);
  });
});

describe('a hint that was out of date', () => {
  it.each([
    ['the record has a later visitor that nobody here knows', 6],
    ['the record has another visitor of the same version', 5],
  ])('is replaced by the record if %s', (_what, turn) => {
    const { visitor, owners } = run(visitorOf(1, 5), [track('a')], visitorOf(2, turn, 'ann'));
    expect(visitor).toMatchObject({ thread: visitorId(2), keys: { [SERVICE]: ['ann'] } });
    expect(owners).toEqual([`a: ${visitorId(2)}`]);
  });

  it('leaves the calls from before the record’s visitor to an id of their own', () => {
    const turn = versionAt(Date.now()) - 10;
    const base = visitorOf(2, turn, 'ann', { since: turn });
    const { who, owners } = run(visitorOf(1, 5), [track('a', Date.now() - 9000), track('b')], base);
    expect([who.met, owners[1]]).toEqual([base, `b: ${visitorId(2)}`]);
    expect([`a: ${visitorId(1)}`, `a: ${visitorId(2)}`]).not.toContain(owners[0]);
  });

  it('leaves a change by this page as the later one', () => {
    const begin = visitorOf(1, 5);
    const late = Date.UTC(2030, 0, 1);
    const { visitor, owners } = run(begin, [track('a'), reset(3, late)], visitorOf(2, 6));
    const assumed = finish(begin, [reset(3, late)], SERVICE)[0].turn;
    expect([visitor.thread, owners]).toEqual([visitorId(3), [`a: ${visitorId(2)}`]]);
    expect(visitor.turn).toBe(assumed);
  });

  it('makes a version above the assumed one, if the visitor turns out to be another one', () => {
    // The page identifies Bob as the first customer of a new visitor id. The record has another visitor id, of Ann.
    const call = identify('bob', 3);
    const { visitor } = run(visitorOf(1, 9), [call], visitorOf(2, 9, 'ann'));
    const assumed = finish(visitorOf(1, 9), [call], SERVICE)[0];
    expect([visitor.thread, assumed.thread]).toEqual([visitorId(3), visitorId(1)]);
    expect(visitor.turn).toBeGreaterThan(assumed.turn);
  });
});

describe('a hint that was right', () => {
  it.each<[string, Call[], Visitor]>([
    ['the hint has it by now', [], visitorOf(2, 7)],
    ['a call that waits has begun it', [reset(2, 1)], visitorOf(1, 5)],
    ['a call that waits has begun it, and another one has ended it', [reset(2, 1), reset(3, 1)], visitorOf(1, 5)],
  ])('leaves earlier calls to the assumed visitor, although the record has a later one: %s', (_what, calls, hinted) => {
    const { visitor, owners } = run(visitorOf(1, 5), [track('a'), ...calls], visitorOf(2, 7), { hinted });
    expect([visitor.thread, owners]).toEqual([calls.at(-1)?.fresh ?? visitorId(2), [`a: ${visitorId(1)}`]]);
  });

  it('learns the key of the same visitor id from the record', () => {
    expect(run(visitorOf(1, 5), [], visitorOf(1, 5, 'ann')).visitor.keys).toEqual({ [SERVICE]: ['ann'] });
  });

  it('gives properties that wait to the customer in the record', () => {
    expect(run(visitorOf(1, 5), [upsert('pro')], visitorOf(1, 5, 'ann')).owners).toEqual(['pro: ann']);
  });

  it('counts over an older record', () => {
    expect(run(visitorOf(1, 5), [], visitorOf(2, 4, 'ann')).visitor).toMatchObject({ thread: visitorId(1), keys: {} });
  });
});

describe('the calls that wait', () => {
  const many = Array.from({ length: AT_ONCE + 50 }, (_, n) => track(`${n}`));

  it('are finished only so many at once', () => {
    const { owners, rest } = run(visitorOf(1, 5), many, undefined);
    expect([owners.length, rest]).toEqual([AT_ONCE, many.slice(AT_ONCE)]);
  });

  it('are finished up to the last change of the visitor', () => {
    const calls = [...many, reset(2), track('last')];
    const { visitor, owners, rest } = run(visitorOf(1, 5), calls, undefined);
    expect([visitor.thread, owners.length, rest]).toEqual([visitorId(2), many.length, calls.slice(-1)]);
  });
});
