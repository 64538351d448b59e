// @module-tag promise
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createClock } from '../../src/recorder/clock.ts';

const HOUR = 3_600_000;
const TIME = Date.parse('2026-01-31T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now: TIME });
  return () => void vi.useRealTimers();
});

/** Only the visitor's clock is set: the page's own time goes on. */
const setClock = (to: number) => vi.setSystemTime(to);

describe('the clock of a page load', () => {
  it('is the clock of the visitor', () => {
    const { now } = createClock();
    vi.advanceTimersByTime(HOUR);
    expect(now()).toBe(TIME + HOUR);
  });

  it.each([[undefined], ['fast'], [{}]])(
    'works if a global variable of the page has replaced `performance` by %s',
    (other) => {
      vi.stubGlobal('performance', other);
      const { now, reading } = createClock();
      vi.advanceTimersByTime(1000);
      expect([now(), reading()]).toEqual([TIME + 1000, [TIME + 1000, 1000]]);
      vi.unstubAllGlobals();
    },
  );

  it.each([1, 24, 87_600])('goes on if the visitor sets the clock back by %i h', (hours) => {
    const { now } = createClock();
    vi.advanceTimersByTime(1000);
    setClock(Date.now() - hours * HOUR);
    expect(now()).toBe(TIME + 1000);
    vi.advanceTimersByTime(HOUR);
    expect(now()).toBe(TIME + HOUR + 1000);
    setClock(Date.now() - hours * HOUR);
    vi.advanceTimersByTime(1000);
    expect(now()).toBe(TIME + HOUR + 2000);
  });

  it('follows a clock that is set ahead, which a night asleep looks like', () => {
    const { now } = createClock();
    setClock(TIME + 8 * HOUR);
    expect(now()).toBe(TIME + 8 * HOUR);
  });

  it('waits for a clock that corrects itself', () => {
    const { now } = createClock();
    vi.advanceTimersByTime(1000);
    expect(now()).toBe(TIME + 1000);
    setClock(TIME - 10_000);
    expect(now()).toBe(TIME + 1000);
    vi.advanceTimersByTime(30_000);
    expect(now()).toBe(TIME + 20_000);
  });

  it('knows for how long the page load lasts, also before the tracker', () => {
    vi.advanceTimersByTime(500);
    const { reading } = createClock();
    const early = performance.now();
    vi.advanceTimersByTime(HOUR);
    expect(reading()).toEqual([TIME + HOUR + 500, HOUR + Math.round(early)]);
    setClock(TIME);
    expect(reading()).toEqual([TIME + HOUR + 500, HOUR + Math.round(early), HOUR + 500]);
  });
});
