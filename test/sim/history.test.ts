import { expect, it } from 'vitest';
import { createHistory } from '../../sim/walk/history.ts';

const start = () => {
  let time = 0;
  const history = createHistory({ now: () => time });
  const at = (ms: number) => {
    time = ms;
    return history;
  };
  return { history, at };
};

it('records when the network did not work', () => {
  const { history, at } = start();
  at(10).network(false);
  at(20).network(true);
  expect(history.wasNetworkFair(0, 9)).toBe(true);
  expect(history.wasNetworkFair(15, 16)).toBe(false);
  expect(history.wasNetworkFair(21, 99)).toBe(true);
  expect(history.wasDiskFair(0, 99)).toBe(true);
});

it('counts a fault that has not ended', () => {
  const { history, at } = start();
  at(10).disk(false);
  at(20).disk(false);
  expect(history.wasDiskFair(500, 600)).toBe(false);
});

it('finds the first departure of a page after a given time', () => {
  const { history, at } = start();
  at(10).depart({ page: 'page1', kind: 'leaves', isLoaded: true });
  at(20).depart({ page: 'page1', kind: 'crashes', isLoaded: true });
  expect(history.departureOf('page1', 0)).toBe(10);
  expect(history.departureOf('page1', 11)).toBe(20);
  expect(history.departureOf('page2', 0)).toBe(Number.POSITIVE_INFINITY);
});

it('knows how far the clock was ahead, also before the jumps of the same moment', () => {
  const { history, at } = start();
  expect([history.skewAt(5), history.leastSkewAt(5)]).toEqual([0, 0]);
  at(10).jump(-700);
  at(10).jump(900);
  expect([history.skewAt(10), history.leastSkewAt(10)]).toEqual([200, -700]);
  expect([history.skewAt(11), history.leastSkewAt(11)]).toEqual([200, 200]);
});
