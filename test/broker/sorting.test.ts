import { describe, expect, it } from 'vitest';
import { type Entry, entryOf, openUnits } from '../../demo/broker/entry.ts';
import { createSorting } from '../../demo/broker/sorting.ts';

const NOW = 1_770_000_000_000;

/** A service whose status depends on the names of the events, and a queue that sends to it until nothing is due. */
const open = (statusOf: (names: string[]) => number) => {
  const sorting = createSorting({ first: 1000, most: 300_000 });
  let now = NOW;
  const entries: Entry[] = [];
  const requests: string[][] = [];
  const givenUp: string[] = [];
  const namesOf = (body: string) =>
    (JSON.parse(body) as { batch: { event: string }[] }).batch.map(({ event }) => event);
  const add = (...names: string[]) => {
    const body = JSON.stringify({ batch: names.map((event) => ({ event })) });
    const entry = entryOf(`${NOW}-${entries.length}`, { path: '/api/events/batch/', body });
    if (entry) entries.push(entry);
  };
  const step = (isForced = false) => {
    const cut = sorting.next(entries.flatMap(openUnits), now, isForced);
    if (!cut) return;
    const names = namesOf(cut.request.body);
    requests.push(names);
    const status = statusOf(names);
    const outcome = status < 300 ? 'delivered' : status < 500 ? 'rejected' : 'failed';
    const verdict = sorting.judge(cut, outcome, status, now);
    if (verdict === 'settled') for (const { entry, at } of cut.units) entry.settled.add(at);
    if (verdict === 'settled' && outcome !== 'delivered') givenUp.push(...names);
    return verdict;
  };
  const run = () => {
    const verdicts = [];
    for (let verdict = step(); verdict; verdict = step()) verdicts.push(verdict);
    return verdicts;
  };
  const pass = (ms: number) => {
    now += ms;
    return run();
  };
  return { sorting, pass, add, step, run, requests, givenUp, left: () => entries.flatMap(openUnits).length };
};
const refusing =
  (status: number, ...bad: string[]) =>
  (names: string[]) =>
    names.some((name) => bad.includes(name)) ? status : 201;

describe('a refused event', () => {
  it('is found by halving, and given up after a pause if another one has got through', () => {
    const { add, run, pass, requests, givenUp } = open(refusing(400, 'c'));
    add('a', 'b', 'c', 'd');
    run();
    pass(999);
    expect(givenUp).toEqual([]);
    pass(1);
    expect(givenUp).toEqual(['c']);
    expect(requests.map((names) => names.join(''))).toEqual(['abcd', 'a', 'bc', 'b', 'cd', 'c', 'd', 'c']);
  });

  it('stays while nothing else gets through, and holds nothing up', () => {
    const { add, run, step, pass, givenUp, left } = open(refusing(400, 'bad'));
    add('bad');
    run();
    expect(left()).toBe(1);
    for (let n = 0; n < 10; n++) step(true);
    expect(givenUp).toEqual([]);
    add('good');
    pass(1000);
    expect(givenUp).toEqual(['bad']);
  });

  it('alternates with the others, so that many of them take at most half of the requests', () => {
    const bad = Array.from({ length: 20 }, (_, n) => `bad${n}`);
    const { add, run, pass, requests, givenUp } = open(refusing(400, ...bad));
    for (const name of bad) add(name);
    run();
    const before = requests.length;
    for (let n = 0; n < 20; n++) add(`good${n}`);
    pass(1000);
    const goods = requests.slice(before).map(([name]) => name?.startsWith('good'));
    expect(goods).toEqual(Array.from({ length: 40 }, (_, n) => n % 2 === 0));
    expect(givenUp).toEqual(bad);
  });

  it('of 500 is given up after two minutes at the earliest', () => {
    const { add, run, pass, givenUp } = open(refusing(500, 'bad'));
    add('bad');
    run();
    let seconds = 0;
    for (; !givenUp[0]; seconds++) {
      add(`good${seconds}`);
      pass(1000);
    }
    expect(seconds).toBeGreaterThan(120);
    expect(seconds).toBeLessThan(150);
  });

  it('is tried in turn with others while nothing gets through', () => {
    const { add, run, pass, step, requests } = open(() => 400);
    for (const name of ['a', 'b', 'c']) add(name);
    run();
    const before = requests.length;
    for (let n = 0; n < 6; n++) {
      pass(1);
      step(true);
    }
    expect(new Set(requests.slice(before).flat())).toEqual(new Set(['a', 'b', 'c']));
  });

  it('after five in a row asks for a pause before the next one', () => {
    const { add, run } = open(() => 400);
    for (let n = 0; n < 7; n++) add(`e${n}`);
    expect(run()).toEqual(['next', 'next', 'next', 'next', 'probe', 'probe', 'probe']);
  });
});

it('a first 500 is the service’s: the same request waits', () => {
  const { add, step, requests } = open(() => 500);
  add('a', 'b');
  expect([step(), step()]).toEqual(['wait', 'next']);
  expect(requests).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

it('413 bounds the requests from then on', () => {
  const { add, run, requests } = open((names) => (names.length > 2 ? 413 : 201));
  add('a', 'b', 'c', 'd');
  add('e', 'f', 'g', 'h');
  run();
  expect(requests.flat().filter((name) => name === 'e')).toHaveLength(1);
});

it('a thousand refused events are held, and no more', () => {
  const { sorting, add, run } = open(() => 400);
  for (let n = 0; n < 999; n++) add(`e${n}`);
  run();
  expect([sorting.held(), sorting.isFull()]).toEqual([999, false]);
  add('last');
  run();
  expect(sorting.isFull()).toBe(true);
  sorting.keep([]);
  expect([sorting.held(), sorting.isFull()]).toEqual([0, false]);
});
