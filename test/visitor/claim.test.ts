import { describe, expect, it } from 'vitest';
import { finish } from '../../src/visitor/calls.ts';
import { decideClaim } from '../../src/visitor/claim.ts';
import type { Visitor } from '../../src/visitor/record.ts';
import type { Who } from '../../src/visitor/who.ts';
import { identify, reset, SERVICE, upsert, visitorId, visitorOf } from './visitorOf.ts';

const NOW = Date.UTC(2030, 0, 1);
const begin = visitorOf(1, 5);
const claimed = identify('ann', 3, NOW);
const [mine] = finish(begin, [claimed], SERVICE);

/** Decides a claim of Ann, after which these calls wait, too. Returns the visitor ids of `$identify` and of the page. */
const decide = (kept: Visitor | undefined, others = [] as ReturnType<typeof reset>[]) => {
  const calls = [claimed, ...others];
  const who: Who = { begin, visitor: finish(begin, calls, SERVICE)[0], met: begin, number: 1, claim: {} };
  const [decided, waiting] = decideClaim(who, calls, mine, kept, SERVICE);
  const [, items] = finish(decided.begin, waiting, SERVICE);
  return { decided, who, items, ids: items.map(([, known]) => known.correlationValue ?? known.primary_key) };
};

describe('a claim of a visitor id without a customer', () => {
  it.each<[string, Visitor | undefined]>([
    ['there is no record', undefined],
    ['the record has no customer', begin],
    ['the record is of an earlier id', visitorOf(2, 4, 'bob')],
    ['the record is of an id that was begun later', visitorOf(2, mine.turn + 2)],
  ])('is granted if %s', (_what, kept) => {
    const { decided, who, ids } = decide(kept);
    expect([decided.visitor, decided.claim, ids]).toEqual([who.visitor, undefined, [visitorId(1)]]);
    expect(decided.visitor).toBe(who.visitor);
  });

  it('is granted if a later call of the page has begun the id of the record', () => {
    expect(decide(visitorOf(2, mine.turn + 1), [reset(2, NOW)]).ids).toEqual([visitorId(1)]);
  });

  it.each<[string, Visitor]>([
    ['the record has another customer', visitorOf(1, 6, 'bob')],
    ['another tab has begun another id in the same moment', visitorOf(2, mine.turn + 1)],
    ['another tab has begun another id before', visitorOf(2, 6)],
  ])('starts another visitor id if %s', (_what, kept) => {
    const { decided, ids } = decide(kept);
    expect([decided.visitor.thread, ids]).toEqual([visitorId(3), [visitorId(3)]]);
    expect(decided.visitor.keys[SERVICE]).toEqual(['ann', undefined]);
  });

  it('makes no second $identify if the record has the same customer', () => {
    expect(decide(visitorOf(1, 6, 'ann')).ids).toEqual([]);
  });

  it('leaves properties from before to the customer of the record', () => {
    const early = { ...upsert('pro', NOW), owner: visitorId(1) };
    expect(decide(visitorOf(1, 6, 'bob'), [early]).ids).toEqual(['bob', visitorId(3)]);
  });
});
