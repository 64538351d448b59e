import { afterEach, describe, expect, it, vi } from 'vitest';
import { oneAtATime } from '../../src/relay/oneAtATime.ts';

afterEach(() => vi.useRealTimers());

/** Work whose runs the test ends, in their order. */
const open = (longest = 1000) => {
  const ends: (() => void)[] = [];
  const run = oneAtATime(() => new Promise<void>((resolve) => ends.push(resolve)), longest);
  return { run, ends };
};
/** Whether the promise has settled, after all microtasks. */
const isSettled = async (promise: Promise<unknown>) => {
  let settled = false;
  promise.finally(() => {
    settled = true;
  });
  await new Promise(setImmediate);
  return settled;
};

describe('work that runs once at a time', () => {
  it('runs once for calls at the same time, and again later', async () => {
    const { run, ends } = open();
    const calls = Promise.all([run(), run()]);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await calls;
    const later = run();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await later;
  });

  it('runs again after the present run, for a caller whose data came during it', async () => {
    const { run, ends } = open();
    const first = run();
    const again = run.again();
    expect(await isSettled(again)).toBe(false);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await first;
    expect(await isSettled(again)).toBe(false);
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await again;
  });

  it('rejects as the work does', async () => {
    const run = oneAtATime(() => Promise.reject(new Error('down')), 1000);
    await expect(run()).rejects.toThrow('down');
    await expect(run.again()).rejects.toThrow('down');
  });

  it('stops no later call with a run that never ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { run, ends } = open();
    const first = run();
    await vi.advanceTimersByTimeAsync(999);
    const second = run();
    expect(await isSettled(first)).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    await first;
    const third = run();
    expect(ends).toHaveLength(2);
    // The end of the old run is not that of the new one.
    ends[0]?.();
    await second;
    const fourth = run();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await Promise.all([third, fourth]);
  });
});
