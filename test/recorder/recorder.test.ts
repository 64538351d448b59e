// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { timeOf } from '../../src/recorder/event.ts';
import { createRecorder, type RecorderPorts, SLICE } from '../../src/recorder/recorder.ts';
import { times } from './items.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
/** How many calls of a task are recorded within the call. */
const AT_ONCE = 50;
/** How long (ms) a burst may keep the task that calls. */
const BURST = 24;

beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A recorder, and a log of its calls. `cost` is the time that an event takes, in ms. */
const open = (changes: Partial<RecorderPorts> = {}, cost = 0) => {
  const log: string[] = [];
  const taken: { uuid: string; event: string; payload?: unknown; isSingle: boolean; at: number }[] = [];
  const dropped: [name: string, reason: string, payload: unknown][] = [];
  const errors: string[] = [];
  const traced: { event: string; payload?: unknown }[] = [];
  const fail = (error: unknown) => void errors.push((error as Error).message);
  const recorder = createRecorder({
    steps: [],
    made: () => ({ at: Date.now() }),
    isFull: () => false,
    begin: () => void log.push('begin'),
    end(texts, reason) {
      for (const text of texts) {
        const { event, payload } = JSON.parse(text);
        log.push(`drop ${event}`);
        dropped.push([event, reason, payload]);
      }
    },
    onTracked: (text) => void traced.push(JSON.parse(text)),
    fail,
    start: () => void log.push('start'),
    take(text, isSingle) {
      const { uuid, event, payload } = JSON.parse(text);
      log.push(`take ${event}`);
      taken.push({ uuid, event, payload, isSingle, at: timeOf(text) });
      vi.setSystemTime(Date.now() + cost);
    },
    rest: () => void log.push('rest'),
    ...changes,
  });
  const names = () => taken.map(({ event }) => event);
  return { ...recorder, log, taken, names, dropped, errors, traced };
};

/** Runs the microtasks of the task that calls, and no timer. */
const microtasks = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};
const namesOf = (count: number) => times(count, (i) => `e${i}`);

describe('a call', () => {
  it('is recorded before it returns', () => {
    const { track, log } = open();
    track('a', undefined);
    expect(log).toEqual(['begin', 'start', 'take a']);
    track('b', undefined);
    expect(log.slice(3)).toEqual(['begin', 'start', 'take b']);
  });

  it('has its name, its payload, its time and its endpoint', () => {
    const { track, taken } = open({ made: () => ({ at: NOW - 5000 }) });
    track('a', { plan: 'pro' });
    track('b', undefined, true);
    expect(taken).toMatchObject([
      { event: 'a', payload: { plan: 'pro' }, isSingle: false, at: NOW - 5000 },
      { event: 'b', payload: undefined, isSingle: true, at: NOW - 5000 },
    ]);
  });

  it.each([[0], [false], [null], [''], [[]], [{}]])('keeps the payload %j', (payload) => {
    const { track, taken } = open();
    track('a', payload);
    expect(taken[0]?.payload).toEqual(payload);
  });

  it('keeps the payload as it is in the call', async () => {
    const { track, taken } = open();
    const payload = { n: 0, list: [0] };
    for (const name of namesOf(AT_ONCE + 20)) {
      payload.n++;
      payload.list[0] = payload.n;
      track(name, payload);
    }
    payload.n = payload.list[0] = -1;
    await microtasks();
    expect(taken.map((one) => one.payload)).toEqual(times(AT_ONCE + 20, (i) => ({ n: i + 1, list: [i + 1] })));
  });

  it('has an id of its own, or the id with which it is replayed', () => {
    const replayed = '01234567-89ab-4cde-8f01-23456789abcd';
    let id: string | undefined = replayed;
    const { track, taken } = open({ made: () => ({ at: Date.now(), id }) });
    track('replayed', undefined);
    id = undefined;
    track('a', undefined);
    track('b', undefined);
    expect(taken[0]?.uuid).toBe(replayed);
    expect(new Set(taken.map(({ uuid }) => uuid)).size).toBe(3);
  });

  it('is recorded once, although another method drains the calls', async () => {
    const { track, drain, names } = open();
    track('a', undefined);
    drain();
    await microtasks();
    vi.runAllTimers();
    expect(names()).toEqual(['a']);
  });
});

describe('a burst of calls', () => {
  it('is recorded in order: the first fifty within the call, the rest after the task', async () => {
    const { track, names } = open();
    const all = namesOf(AT_ONCE + 30);
    for (const [i, name] of all.entries()) {
      track(name, undefined);
      expect(names()).toHaveLength(Math.min(i + 1, AT_ONCE));
    }
    await microtasks();
    expect(names()).toEqual(all);
  });

  it('keeps the time of each call', async () => {
    const { track, taken } = open();
    for (const name of namesOf(AT_ONCE + 20)) {
      track(name, undefined);
      vi.setSystemTime(Date.now() + 1);
    }
    vi.runAllTimers();
    await microtasks();
    vi.runAllTimers();
    expect(taken.map(({ at }) => at - NOW)).toEqual(times(AT_ONCE + 20, (i) => i));
  });

  it('takes 24 ms of the task that calls and 6 ms of each later task', async () => {
    const { track, names } = open({}, 1);
    const all = namesOf(AT_ONCE + 100);
    const frozen = Date.now();
    for (const name of all) {
      track(name, undefined);
      vi.setSystemTime(frozen);
    }
    const slices: number[] = [];
    for (let before = names().length; ; before = names().length) {
      await microtasks();
      slices.push(names().length - before);
      if (names().length === all.length) break;
      expect(vi.getTimerCount()).toBe(1);
      before = names().length;
      vi.advanceTimersToNextTimer();
      slices.push(names().length - before);
      if (names().length === all.length) break;
    }
    const [first = 0, ...later] = slices.filter(Boolean);
    // The event that passes the bound is the last one.
    expect(first).toBeLessThanOrEqual(BURST + 1);
    expect(first).toBeGreaterThan(BURST / 2);
    expect(later.length).toBeGreaterThan(5);
    for (const slice of later) expect(slice).toBeLessThanOrEqual(SLICE + 1);
    expect(names()).toEqual(all);
  });

  it.each<[string, number]>([
    ['begins some time after the start', 1],
    ['begins in the millisecond of the start', 0],
  ])('is not completed by a call of a later task if it %s', async (_what, since) => {
    const { track, names } = open({}, 1);
    const all = namesOf(AT_ONCE + 60);
    const frozen = NOW + since;
    vi.setSystemTime(frozen);
    for (const name of all) {
      track(name, undefined);
      vi.setSystemTime(frozen);
    }
    await microtasks();
    const before = names().length;
    expect(before).toBeLessThan(all.length);
    track('later', undefined);
    expect(names()).toHaveLength(before);
    for (let i = 0; i < all.length && !names().includes('later'); i++) {
      await microtasks();
      vi.runAllTimers();
    }
    expect(names()).toEqual([...all, 'later']);
  });

  it('is completed by drain', () => {
    const { track, drain, names } = open({}, 1);
    const all = namesOf(AT_ONCE + 100);
    for (const name of all) track(name, undefined);
    drain();
    expect(names()).toEqual(all);
  });

  it('is completed by a payload of more than 1,000 characters, which would wait in memory', () => {
    const { track, names } = open();
    for (const name of namesOf(AT_ONCE + 10)) track(name, undefined);
    track('large', 'x'.repeat(1000));
    expect(names()).toHaveLength(AT_ONCE + 11);
  });

  it('does not wait while the queue is full, since the calls are bounded too', () => {
    let isFull = false;
    const { track, names } = open({ isFull: () => isFull });
    for (const name of namesOf(AT_ONCE + 10)) track(name, undefined);
    isFull = true;
    track('last', undefined);
    expect(names()).toHaveLength(AT_ONCE + 11);
  });

  it('is reported once at the end of the task', async () => {
    const { track, log } = open();
    for (const name of namesOf(AT_ONCE + 10)) track(name, undefined);
    expect(log).not.toContain('rest');
    await microtasks();
    expect(log.filter((step) => step === 'rest')).toHaveLength(1);
    expect(log.at(-1)).toBe('rest');
  });

  it('goes through the steps within the call', () => {
    const { track, names } = open({ steps: [(text) => text] });
    for (const name of namesOf(AT_ONCE + 10)) track(name, undefined);
    expect(names()).toHaveLength(AT_ONCE + 10);
  });
});

describe('a dropped event', () => {
  it.each([[undefined], [null], [''], [7], [{}], [[]], [true], ['$identify']])(
    'is rejected if its name is %j',
    (name) => {
      const { track, dropped, errors, taken } = open();
      track(name, { secret: 'x' });
      expect(dropped).toEqual([['', 'rejected', undefined]]);
      expect(errors).toEqual(['track: expected a name, and not $identify']);
      expect(taken).toEqual([]);
    },
  );

  it.each<[string, () => unknown]>([
    ['a BigInt', () => 1n],
    [
      'a circle',
      () => {
        const circle: unknown[] = [];
        circle.push(circle);
        return circle;
      },
    ],
    [
      'a getter that throws',
      () => ({
        get broken() {
          throw new Error('broken');
        },
      }),
    ],
  ])('is unserialisable if its payload is %s', (_what, payload) => {
    const { track, dropped, errors, taken } = open();
    track('a', payload());
    expect(dropped).toEqual([['a', 'unserialisable', undefined]]);
    expect(errors).toHaveLength(1);
    expect(taken).toEqual([]);
  });

  it('has its end before the error is reported, because a listener may refuse', () => {
    const { track, log } = open({ fail: () => void log.push('error') });
    track('a', { n: 1n });
    expect(log.slice(-2)).toEqual(['drop a', 'error']);
  });

  it('is filtered if a step returns nothing, and its payload is shown nowhere', () => {
    const { track, dropped, errors, traced, taken } = open({ steps: [() => ''] });
    track('a', { secret: 'x' });
    expect(dropped).toEqual([['a', 'filtered', undefined]]);
    expect(JSON.stringify(traced)).not.toContain('secret');
    expect([errors, taken]).toEqual([[], []]);
  });

  it('is filtered if a step throws, which is reported', () => {
    const after = vi.fn((text: string) => text);
    const { track, dropped, errors } = open({
      steps: [
        () => {
          throw new Error('broken step');
        },
        after,
      ],
    });
    track('a', undefined);
    expect(dropped).toEqual([['a', 'filtered', undefined]]);
    expect(errors).toEqual(['broken step']);
    expect(after).not.toHaveBeenCalled();
  });

  it('is counted as tracked, and comes after the calls before it', () => {
    const { track, log } = open();
    for (const name of namesOf(AT_ONCE + 2)) track(name, undefined);
    track('', undefined);
    track('bad', 1n);
    track('good', undefined);
    expect(log.filter((entry) => entry === 'begin')).toHaveLength(AT_ONCE + 5);
    const tail = log.filter((entry) => /^(take|drop)/.test(entry)).slice(AT_ONCE - 1);
    expect(tail.slice(0, 5)).toEqual([
      `take e${AT_ONCE - 1}`,
      `take e${AT_ONCE}`,
      `take e${AT_ONCE + 1}`,
      'drop ',
      'drop bad',
    ]);
  });

  it('does not affect the calls after it', async () => {
    const { track, names } = open({ steps: [(text) => (text.includes('"bad"') ? '' : text)] });
    for (const name of ['a', 'bad', 'b']) track(name, undefined);
    track('c', 1n);
    track('d', undefined);
    await microtasks();
    expect(names()).toEqual(['a', 'b', 'd']);
  });
});
