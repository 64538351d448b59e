import { describe, expect, it } from 'vitest';
import { type Journey, readJourneys } from '../../src/catalogue/journeys.ts';
import { markdownOf } from '../../src/catalogue/markdown.ts';
import { reportOn } from '../../src/catalogue/report.ts';
import { catalogueOf } from './readSource.ts';

const OLD = `interface Events {
  /** The visitor
   * signs up | in. */
  signup: { plan: 'free' | 'pro'; cart?: { items: { sku: string }[] } };
  left: undefined;
  searched: { term: string } | undefined;
}`;

const journey = (name: string, event: string, filter?: Record<string, unknown>): Journey => ({ name, event, filter });
const report = (now: string, ...journeys: Journey[]) => reportOn(catalogueOf(OLD), catalogueOf(now), journeys);

const UPGRADE = journey('Upgrade', 'signup', { plan: 'pro' });
const BOOK = journey('Book', 'signup', { cart: { items: [{ sku: 'book' }] } });

describe('a report', () => {
  it('names the journey that filters on a value that is gone', () => {
    expect(report(OLD.replace("'free' | 'pro'", "'free' | 'team'"), UPGRADE, BOOK)).toEqual({
      text: [
        '## Breaking',
        '',
        '- `signup`, `plan`: `pro` is gone. The journey *Upgrade* filters on it.',
        '',
        '## Compatible',
        '',
        '- `signup`, `plan`: `team` is new.',
        '',
      ].join('\n'),
      isBreaking: true,
    });
  });

  it.each([
    [
      'a value in a list of objects',
      OLD.replace('sku: string', 'sku: number'),
      '- `signup`, `cart.items[].sku`: was text, is now number. The journey *Book* filters on it.',
    ],
    [
      'a property',
      OLD.replace('cart?', 'bag?'),
      '- `signup`, `cart`: is gone. Is it `bag` now? The journey *Book* filters on it.',
    ],
    [
      'an event',
      OLD.replace('signup:', 'registered:'),
      '- `signup`: is gone. Is it `registered` now? The journey *Upgrade* waits for it. The journey *Book* waits for it.',
    ],
  ])('names the journeys that lose %s', (_what, now, line) => {
    expect(report(now, UPGRADE, BOOK).text).toContain(`${line}\n`);
  });

  it('names no journey that a change does not affect', () => {
    const free = journey('Welcome', 'signup', { plan: 'free' });
    const other = journey('Other', 'searched', { plan: 'pro' });
    const { text } = report(OLD.replace("'free' | 'pro'", "'free'"), free, other);
    expect(text).not.toContain('journey');
  });

  it('has a filter on a property of the context as one that may match', () => {
    expect(report(OLD, journey('Release', 'left', { release: '1.4' })).text).toBe('No differences.\n');
  });

  it('lists journeys that cannot start without blaming the change', () => {
    const { text, isBreaking } = report(OLD, journey('Typo', 'sign_up'), journey('Gold', 'signup', { plan: 'gold' }));
    expect(isBreaking).toBe(false);
    expect(text).toBe(
      '## Journeys that could not start before either\n\n- *Typo* waits for `sign_up`.\n- *Gold* waits for `signup` with `{"plan":"gold"}`.\n',
    );
  });

  it('breaks nothing if everything that was accepted still is', () => {
    const { isBreaking } = report(
      OLD.replace('left: undefined', "left: undefined; 'more': { a: 1 }").replace("'pro'", 'string'),
      UPGRADE,
    );
    expect(isBreaking).toBe(false);
  });
});

describe('journeys', () => {
  it('are a list, or those of the collector', () => {
    const list = [{ id: 'x', name: 'a', event: 'b', filter: null, firings: [] }];
    expect(readJourneys(list)).toEqual(readJourneys({ journeys: list }));
  });
  it.each([
    [{}, 'expected a list'],
    [[1], 'journey 1: expected an object'],
    [[{ name: 'a' }], 'journey 1: expected `name` and `event`'],
    [[{ name: 'a', event: 'b', filter: [] }], 'journey a: expected `filter`'],
  ])('of %j are refused', (value, message) => {
    expect(() => readJourneys(value)).toThrow(message);
  });
});

it('the page has each event with its properties and journeys', () => {
  const page = markdownOf(catalogueOf(OLD), [UPGRADE]);
  expect(page.split('\n## ').slice(1, 4)).toEqual([
    [
      'signup',
      '',
      'The visitor',
      'signs up | in.',
      '',
      '| property | value | always there | meaning |',
      '| --- | --- | --- | --- |',
      '| `plan` | `free` or `pro` | yes |  |',
      '| `cart` | object | no |  |',
      '| `cart.items` | list of object | no |  |',
      '| `cart.items[].sku` | text | no |  |',
      '',
      'Journeys that wait for it:',
      '',
      '- *Upgrade*, filter `{"plan":"pro"}`',
      '',
    ].join('\n'),
    ['left', '', 'No payload.', ''].join('\n'),
    [
      'searched',
      '',
      '| property | value | always there | meaning |',
      '| --- | --- | --- | --- |',
      '| `term` | text | yes |  |',
      '',
      'The payload may be missing.',
      '',
    ].join('\n'),
  ]);
});
