// @module-tag promise
import { describe, expect, it } from 'vitest';
import type { OtherJournal } from '../../src/outbox/journal.ts';
import { markOf } from '../../src/visitor/record.ts';
import { epochIn, isErasedFor, mergedInto, takenIn, takenWith, unread } from '../../src/visitor/stored.ts';
import type { Who } from '../../src/visitor/who.ts';
import { SERVICE, visitorOf } from './visitorOf.ts';

const EPOCH = 'epoch';
const journal = (name: string): OtherJournal => ({ name, texts: [], remove() {} });

describe('the names of journals that were taken in', () => {
  it.each([
    ['there is no record', undefined, []],
    ['an earlier version has written it', visitorOf(1, 1), []],
    ['other code has written it', { taken: ['a', 7, null, 'b'] }, ['a', 'b']],
    ['other code has written no list', { taken: 'a' }, []],
  ])('are read from the record also if %s', (_what, stored, names) => {
    expect(takenIn(stored)).toEqual(names);
  });

  it('are added to, without journals of earlier versions, and only the latest thirty stay', () => {
    expect(takenWith({ taken: ['a'] }, [journal('b'), journal(''), journal('c')])).toEqual(['a', 'b', 'c']);
    const many = Array.from({ length: 30 }, (_, n) => `${n}`);
    expect(takenWith({ taken: many }, [journal('last')])).toEqual([...many.slice(1), 'last']);
  });
});

describe('the record after a merge', () => {
  it('has the later visitor and the highest number of page loads', () => {
    const stored = { ...visitorOf(1, 5, 'ann', { pages: 7 }), taken: ['a'] };
    expect(mergedInto(stored, visitorOf(2, 6, 'bob'), SERVICE, EPOCH)).toEqual({
      ...visitorOf(2, 6, 'bob', { pages: 7 }),
      taken: ['a'],
      epochs: { [SERVICE]: EPOCH },
    });
    expect(mergedInto(stored, visitorOf(2, 4, 'bob', { pages: 9 }), SERVICE, EPOCH)).toMatchObject(
      visitorOf(1, 5, 'ann', { pages: 9 }),
    );
  });

  it('keeps what another service has stored of the same visitor id', () => {
    const stored = visitorOf(1, 5, undefined, { keys: { '/other': ['ann'] } });
    expect(mergedInto(stored, visitorOf(1, 6, 'bob'), SERVICE, EPOCH).keys).toEqual({
      '/other': ['ann'],
      [SERVICE]: ['bob'],
    });
  });

  it.each<[string, unknown]>([
    ['has nothing of it', visitorOf(1, 5)],
    ['is missing', undefined],
  ])('states nothing of another service if it %s', (_what, stored) => {
    const mine = visitorOf(1, 6, 'bob', { keys: { '/other': [0], [SERVICE]: ['bob'] } });
    expect(mergedInto(stored, mine, SERVICE, EPOCH).keys).toEqual({ [SERVICE]: ['bob'] });
  });

  it('keeps the epochs of all services', () => {
    const stored = mergedInto(
      mergedInto(undefined, visitorOf(1, 5), '/other', 'theirs'),
      visitorOf(1, 5),
      SERVICE,
      EPOCH,
    );
    expect(mergedInto(stored, visitorOf(1, 6), SERVICE, 'another').epochs).toEqual({
      '/other': 'theirs',
      [SERVICE]: EPOCH,
    });
    expect(['/other', SERVICE, '/third'].map((service) => epochIn(stored, service))).toEqual([
      'theirs',
      EPOCH,
      undefined,
    ]);
  });

  it('is the page’s own visitor where there is none', () => {
    expect(mergedInto('foreign', visitorOf(1, 5), SERVICE, EPOCH)).toEqual({
      ...visitorOf(1, 5),
      taken: [],
      epochs: { [SERVICE]: EPOCH },
    });
  });
});

describe('a refusal', () => {
  const record = visitorOf(1, 5);

  it.each<[string, unknown, boolean]>([
    ['has erased a record that is missing', undefined, true],
    ['has erased a record that another service has written anew', mergedInto(undefined, record, '/other', EPOCH), true],
    [
      'has not erased a record of both',
      mergedInto(mergedInto(undefined, record, '/other', 'theirs'), record, SERVICE, EPOCH),
      false,
    ],
    ['has not erased a record without a list, of an earlier version', record, false],
  ])('%s', (_what, stored, expected) => {
    expect(isErasedFor(stored, SERVICE)).toBe(expected);
  });
});

describe('the record that a leaving page writes unread', () => {
  const visitor = visitorOf(1, 5, 'ann', { pages: 2 });
  const who: Who = { begin: visitor, visitor, met: visitor, number: 2, taken: ['a'] };
  const hinted = (keys: Record<string, string | number>, pages = 0) =>
    visitorOf(1, 5, undefined, {
      keys: Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, [key]])),
      pages,
    });

  it('has its visitor, the journals that were taken in, and no lower number of page loads', () => {
    expect(unread(who, undefined, SERVICE)).toEqual({ ...visitor, taken: ['a'] });
    expect(unread(who, hinted({ [SERVICE]: markOf('ann') }, 9), SERVICE)).toEqual({
      ...visitor,
      taken: ['a'],
      pages: 9,
    });
  });

  it.each([
    ['another tab has identified somebody else', { [SERVICE]: markOf('bob') }],
    ['another service knows the customer', { [SERVICE]: markOf('ann'), '/other': markOf('ann') }],
  ])('is none if %s', (_what, keys) => {
    expect(unread(who, hinted(keys), SERVICE)).toBeUndefined();
  });
});
