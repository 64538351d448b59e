import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSignals } from '../../src/api/signals.ts';

/** What browsers do with an error that nobody caught; Node has no `reportError`. */
let reported: unknown[];

beforeEach(() => {
  reported = [];
  vi.stubGlobal('reportError', (error: unknown) => reported.push(error));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const problem = (text: string) => () => new Error(text);

describe('a listener', () => {
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
