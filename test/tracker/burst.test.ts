// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000 }));

/** How many calls of a task run in the call itself. Later calls of the task wait. */
const AT_ONCE = 50;
/** The longest (ms) that a burst may keep the task that calls, and a later task. */
const [BURST, SLICE] = [24, 6];

/** A tracker that needs 1 ms for each event once `slow()` is called, and the names of its recorded events. */
const startSlowly = async () => {
  const test = start();
  await test.tracker.flush();
  const recorded: string[] = [];
  let cost = 0;
  test.tracker.on('trace', (trace) => {
    if (trace.step !== 'tracked') return;
    recorded.push(trace.event.event ?? '');
    vi.setSystemTime(Date.now() + cost);
  });
  const slow = () => {
    cost = 1;
  };
  return { ...test, recorded, slow };
};

const burstOf = (count: number) => Array.from({ length: count }, (_, i) => `e${i}`);
/** How long (ms) the tracker works until `run` is done. */
const busy = async (run: () => unknown) => {
  const before = Date.now();
  await run();
  return Date.now() - before;
};
/** Runs the microtasks of the task that calls, and no timer. */
const microtasks = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

describe('a burst of calls', () => {
  it('is recorded within each call up to the fiftieth, and later calls after the task', async () => {
    const { tracker, recorded } = await startSlowly();
    const names = burstOf(AT_ONCE + 30);
    for (const [i, name] of names.entries()) {
      tracker.track(name);
      expect(recorded).toHaveLength(Math.min(i + 1, AT_ONCE));
    }
    expect(tracker.stats()).toMatchObject({ tracked: names.length, queued: names.length });
    await microtasks();
    expect(recorded).toEqual(names);
  });

  it('takes at most 24 ms of the calling task and 6 ms of each later task', async () => {
    const { tracker, recorded, slow, names: arrived } = await startSlowly();
    const names = burstOf(AT_ONCE + 100);
    for (const name of names) tracker.track(name);
    slow();
    const first = await busy(microtasks);
    // The event that passes the bound is the last one.
    expect(first).toBeGreaterThan(BURST / 2);
    expect(first).toBeLessThanOrEqual(BURST + 1);
    for (let i = 0; recorded.length < names.length; i++) {
      expect(i).toBeLessThan(names.length);
      const before = recorded.length;
      vi.advanceTimersToNextTimer();
      await microtasks();
      expect(recorded.length - before).toBeLessThanOrEqual(SLICE + 1);
    }
    expect(recorded).toEqual(names);
    await tracker.flush();
    expect(arrived()).toEqual(names);
  });

  it('has its 24 ms counted from its first call', async () => {
    const { tracker, recorded, slow } = await startSlowly();
    for (const name of burstOf(AT_ONCE + 1)) tracker.track(name);
    // The page's own work takes longer than the burst.
    vi.setSystemTime(Date.now() + BURST + 1);
    for (const name of burstOf(10)) tracker.track(name);
    slow();
    await microtasks();
    expect(recorded).toHaveLength(AT_ONCE);
    await settle();
    expect(recorded.length).toBeGreaterThan(AT_ONCE);
  });

  it.each<[string, (test: Awaited<ReturnType<typeof startSlowly>>) => unknown]>([
    ['identify()', ({ tracker }) => tracker.identify('ann')],
    ['setProperties()', ({ tracker }) => tracker.setProperties({ plan: 'pro' })],
    ['reset()', ({ tracker }) => tracker.reset()],
    ['trackNow()', ({ tracker }) => tracker.trackNow('now')],
    ['flush()', ({ tracker }) => tracker.flush()],
    ['consent()', ({ tracker }) => tracker.consent(true)],
    ['stop()', ({ tracker }) => tracker.stop()],
    ['a payload of more than 1,000 characters', ({ tracker }) => tracker.track('large', 'x'.repeat(1000))],
  ])('is recorded completely before %s runs', async (_what, call) => {
    const test = await startSlowly();
    const names = burstOf(AT_ONCE + 100);
    for (const name of names) test.tracker.track(name);
    test.slow();
    call(test);
    expect(test.recorded.slice(0, names.length)).toEqual(names);
  });

  it('keeps the times and the order of its calls', async () => {
    const { tracker, events } = await startSlowly();
    const at = Date.now();
    for (const [i, name] of burstOf(AT_ONCE + 20).entries()) {
      vi.setSystemTime(at + i);
      tracker.track(name);
    }
    await tracker.flush();
    expect(events().map(({ event, timestamp }) => [event, Date.parse(timestamp ?? '') - at])).toEqual(
      burstOf(AT_ONCE + 20).map((name, i) => [name, i]),
    );
  });

  it('is followed by calls that are recorded within the call again', async () => {
    const { tracker, recorded } = await startSlowly();
    for (const name of burstOf(AT_ONCE + 10)) tracker.track(name);
    await microtasks();
    tracker.track('next');
    expect(recorded.at(-1)).toBe('next');
  });

  it('keeps copies of the payloads as they are in the calls', async () => {
    const { tracker, events } = await startSlowly();
    const payload = { n: 0 };
    for (const name of burstOf(AT_ONCE + 10)) {
      payload.n++;
      tracker.track(name, payload);
    }
    await tracker.flush();
    expect(events().map((event) => (event.payload as { n: number }).n)).toEqual(
      burstOf(AT_ONCE + 10).map((_, i) => i + 1),
    );
  });

  it('runs context and beforeSend within the calls', async () => {
    let route = '/a';
    const { tracker, events } = start({ context: () => ({ route }) });
    for (const name of burstOf(AT_ONCE + 10)) tracker.track(name);
    route = '/b';
    await tracker.flush();
    expect(new Set(events().map((event) => (event.payload as { route: string }).route))).toEqual(new Set(['/a']));
  });
});
