// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSignals, type Signals } from '../../src/api/signals.ts';

/** The errors passed to `reportError`, which Node does not have. */
let reported: unknown[];

beforeEach(() => {
  reported = [];
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Most runs of listeners in a task. */
const MOST_RUNS = 500;

const problem = (text: string) => () => new Error(text);

describe('a listener', () => {
  it('of a misspelt signal is an error that lists the signals', () => {
    const [on] = createSignals(false);
    const errors: string[] = [];
    on('error', ({ message }) => errors.push(message));
    on('deliverd' as 'delivered', () => {});
    on(undefined as unknown as 'error', () => {});
    const expected = 'clew: on: expected delivered, dropped, token-expired, change, error, trace';
    expect(errors).toEqual([expected, expected]);
  });

  it('of each signal is no error', () => {
    const [on] = createSignals(false);
    const failed = vi.fn();
    on('error', failed);
    const all: Record<keyof Signals, true> = {
      delivered: true,
      dropped: true,
      'token-expired': true,
      change: true,
      error: true,
      trace: true,
    };
    for (const signal of Object.keys(all)) on(signal as keyof Signals, () => {});
    expect(failed).not.toHaveBeenCalled();
  });

  it('receives its own signal only', () => {
    const [on, emit] = createSignals(false);
    const errors: string[] = [];
    const delivered: unknown[] = [];
    on('error', ({ message }) => errors.push(message));
    on('delivered', ({ events }) => delivered.push(events));
    emit('error', problem('a'));
    emit('dropped', () => ({ events: [], reason: 'full' }));
    expect(errors).toEqual(['a']);
    expect(delivered).toEqual([]);
  });

  it('receives nothing after it unsubscribes, which may happen twice', () => {
    const [on, emit] = createSignals(false);
    const heard: string[] = [];
    const stop = on('error', ({ message }) => heard.push(message));
    emit('error', problem('a'));
    stop();
    stop();
    emit('error', problem('b'));
    expect(heard).toEqual(['a']);
  });

  it('that subscribes twice is called twice, and unsubscribes one at a time', () => {
    const [on, emit] = createSignals(false);
    let heard = 0;
    const listener = () => {
      heard++;
    };
    const stop = on('error', listener);
    on('error', listener);
    emit('error', problem('a'));
    expect(heard).toBe(2);
    stop();
    emit('error', problem('b'));
    expect(heard).toBe(3);
  });

  it('may unsubscribe during a signal, and the other listeners are still called', () => {
    const [on, emit] = createSignals(false);
    const heard: string[] = [];
    const stop = on('error', () => {
      heard.push('first');
      stop();
    });
    on('error', () => heard.push('second'));
    emit('error', problem('a'));
    emit('error', problem('b'));
    expect(heard).toEqual(['first', 'second', 'second']);
  });

  it('that throws affects neither other listeners nor the emitter, and its error is reported', () => {
    const [on, emit] = createSignals(false);
    const heard: string[] = [];
    const mistake = new RangeError('mine');
    on('error', () => {
      throw mistake;
    });
    on('error', ({ message }) => heard.push(message));
    emit('error', problem('a'));
    expect(heard).toEqual(['a']);
    expect(reported).toEqual([mistake]);
  });

  it('that throws where reportError is missing stops nothing, and its error is logged', () => {
    Reflect.deleteProperty(globalThis, 'reportError');
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    const [on, emit] = createSignals(false);
    const mistake = new RangeError('mine');
    on('error', () => {
      throw mistake;
    });
    expect(() => emit('error', problem('a'))).not.toThrow();
    expect(logged.mock.calls).toEqual([[mistake]]);
  });

  it.each(['error', 'change'] as const)('of `%s` that throws stops nothing where reportError throws, too', (signal) => {
    vi.stubGlobal('reportError', () => {
      throw new Error('no console');
    });
    const [on, emit] = createSignals(false);
    const second = vi.fn();
    on(signal, () => {
      throw new RangeError('mine');
    });
    on(signal, second);
    const values = { error: new Error('a'), change: { visitorId: 'ann' } };
    for (let runs = 0; runs < 2; runs++) emit(signal, () => values[signal] as never);
    expect(second).toHaveBeenCalledTimes(2);
  });

  it('that subscribes anew within itself gets the next signal, not the same one', () => {
    const [on, emit] = createSignals(false);
    const heard: string[] = [];
    const subscribe = () => {
      if (heard.length > 9) throw new Error('called without end');
      const stop = on('error', ({ message }) => {
        heard.push(message);
        stop();
        subscribe();
      });
    };
    subscribe();
    emit('error', problem('a'));
    expect(heard).toEqual(['a']);
    emit('error', problem('b'));
    expect(heard).toEqual(['a', 'b']);
  });

  it('that another listener removes during a signal is not called', () => {
    const [on, emit] = createSignals(false);
    const heard = vi.fn();
    on('error', () => stop());
    const stop = on('error', heard);
    emit('error', problem('a'));
    expect(heard).not.toHaveBeenCalled();
  });

  it('that causes a signal gets it after the other listeners of the first signal', () => {
    const [on, emit] = createSignals(false);
    const heard: string[] = [];
    on('error', ({ message }) => {
      if (message === 'a') emit('error', problem('b'));
      heard.push(`first ${message}`);
    });
    on('error', ({ message }) => heard.push(`second ${message}`));
    emit('error', problem('a'));
    expect(heard).toEqual(['first a', 'second a', 'first b', 'second b']);
  });

  describe('of `change`', () => {
    const changeOf = (visitorId: string) => () => ({ visitorId });

    it('runs at once, also within another listener and after many runs in the task', () => {
      const [on, emit] = createSignals(false);
      const order: string[] = [];
      on('change', ({ visitorId }) => order.push(`change of ${visitorId}`));
      on('error', ({ message }) => {
        if (message === 'a') emit('change', changeOf('ann'));
        order.push(`error ${message}`);
      });
      emit('error', problem('a'));
      expect(order).toEqual(['change of ann', 'error a']);
      for (let runs = 0; runs < MOST_RUNS; runs++) emit('error', problem('b'));
      order.length = 0;
      emit('change', changeOf('bob'));
      expect(order).toEqual(['change of bob']);
    });

    it('delays the signals that it causes until all have returned', () => {
      const [on, emit] = createSignals(false);
      const order: string[] = [];
      on('error', ({ message }) => order.push(message));
      on('change', ({ visitorId }) => {
        order.push(`first ${visitorId}`);
        emit('error', problem('caused'));
        if (visitorId === 'ann') emit('change', changeOf('bob'));
      });
      on('change', ({ visitorId }) => order.push(`second ${visitorId}`));
      emit('change', changeOf('ann'));
      expect(order).toEqual(['first ann', 'second ann', 'caused', 'first bob', 'second bob', 'caused']);
    });

    it('that changes the visitor again runs a bounded number of times in each task', () => {
      vi.useFakeTimers({ toFake: ['setTimeout'] });
      const [on, emit] = createSignals(false);
      let runs = 0;
      on('change', () => {
        if (runs++ < 100_000) emit('change', changeOf('ann'));
      });
      emit('change', changeOf('ann'));
      expect(runs).toBeLessThan(3 * MOST_RUNS);
      vi.useRealTimers();
    });

    it('that subscribes anew or removes another one affects the next change only, or at once', () => {
      const [on, emit] = createSignals(false);
      const added = vi.fn();
      const removed = vi.fn();
      on('change', () => {
        on('change', added);
        stop();
      });
      const stop = on('change', removed);
      emit('change', changeOf('ann'));
      expect(added).not.toHaveBeenCalled();
      expect(removed).not.toHaveBeenCalled();
    });
  });

  it('that causes its own signal runs a bounded number of times in each task', () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const [on, emit] = createSignals(false);
    let heard = 0;
    for (let listeners = 0; listeners < 2; listeners++)
      on('error', () => {
        if (heard++ < 100_000) emit('error', problem('again'));
      });
    emit('error', problem('a'));
    expect(heard).toBe(MOST_RUNS);
    vi.advanceTimersToNextTimer();
    expect(heard).toBe(2 * MOST_RUNS);
    vi.useRealTimers();
  });

  it('gets all signals of a burst in order, some of them in later tasks', () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const [on, emit] = createSignals(false);
    const heard: string[] = [];
    on('error', ({ message }) => heard.push(message));
    const all = Array.from({ length: 3 * MOST_RUNS }, (_, n) => `${n}`);
    for (const text of all) emit('error', problem(text));
    expect(heard).toHaveLength(MOST_RUNS);
    vi.runAllTimers();
    expect(heard).toEqual(all);
    vi.useRealTimers();
  });

  it('gets its own copy of the value', () => {
    const [on, emit] = createSignals(false);
    const heard: number[] = [];
    on('delivered', ({ events }) => {
      events.length = 0;
    });
    on('delivered', ({ events }) => heard.push(events.length));
    emit('delivered', () => ({ events: [{} as never, {} as never] }));
    expect(heard).toEqual([2]);
  });
});

it('no value is made without a listener', () => {
  const [, emit] = createSignals(false);
  const make = vi.fn(problem('a'));
  emit('error', make);
  expect(make).not.toHaveBeenCalled();
});

it('debug logs a request that failed, and none that was answered', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const [, emit] = createSignals(true);
  const answered = (outcome: 'failed' | 'delivered') => ({
    step: 'answered' as const,
    uuids: [],
    outcome,
    message: '502',
  });
  emit('trace', () => answered('delivered'));
  emit('trace', () => answered('failed'));
  expect(log).toHaveBeenCalledExactlyOnceWith('clew:', 'trace', answered('failed'));
});

it('nothing is logged without debug, and no other traces with it', () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  createSignals(false)[1]('error', problem('a'));
  expect(log).not.toHaveBeenCalled();
  const [, emit] = createSignals(true);
  emit('trace', () => ({ step: 'stored', uuids: [] }));
  emit('error', problem('b'));
  expect(log).toHaveBeenCalledExactlyOnceWith('clew:', 'error', new Error('b'));
});
