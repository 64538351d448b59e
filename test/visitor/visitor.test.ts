// @module-tag promise
import { describe, expect, it } from 'vitest';
import { createGate, isThread, type Visitor } from '../../src/visitor/visitor.ts';

const visitor = (thread: string): Visitor => ({ thread, turn: 0, keys: {}, pages: 1 });

const createDoor = () => {
  const turnedAway: string[] = [];
  const log: string[] = [];
  const [enter, open] = createGate((texts) => turnedAway.push(...texts));
  const gate = { enter, open };
  /** A call that notes who the visitor was. */
  const call = (name: string, text?: string) =>
    gate.enter(({ thread }) => log.push(`${name} ${thread}`), ...(text === undefined ? [] : [text]));
  return { gate, log, turnedAway, call };
};

describe('a call', () => {
  it('waits until the visitor id is known, and then all run once, in order', () => {
    const { gate, log, call } = createDoor();
    call('a');
    call('b');
    expect(log).toEqual([]);
    gate.open(visitor('ann'));
    expect(log).toEqual(['a ann', 'b ann']);
    gate.open(visitor('ann'));
    expect(log).toHaveLength(2);
  });

  it('runs at once when the visitor id is known', () => {
    const { gate, log, call } = createDoor();
    gate.open(visitor('ann'));
    call('a');
    expect(log).toEqual(['a ann']);
  });

  it('waits again if the visitor id becomes unknown', () => {
    const { gate, log, call } = createDoor();
    gate.open(visitor('ann'));
    gate.open(undefined);
    call('a');
    expect(log).toEqual([]);
    gate.open(visitor('ben'));
    expect(log).toEqual(['a ben']);
  });

  it('may change the visitor id of the calls after it, held or not', () => {
    const { gate, log, call } = createDoor();
    call('a');
    gate.enter(() => gate.open(visitor('ben')));
    call('b');
    gate.open(visitor('ann'));
    call('c');
    expect(log).toEqual(['a ann', 'b ben', 'c ben']);
  });

  it('may start another call, and refuse all after it', () => {
    const { gate, log, turnedAway, call } = createDoor();
    gate.enter(() => call('inner'));
    gate.enter(() => gate.open(null));
    call('after', 'after');
    gate.open(visitor('ann'));
    expect(log).toEqual(['inner ann']);
    expect(turnedAway).toEqual(['after']);
  });
});

describe('a refusal', () => {
  it('drops held and later calls if they track an event', () => {
    const { gate, log, turnedAway, call } = createDoor();
    call('a', 'event a');
    call('b');
    call('c', 'event c');
    gate.open(null);
    call('d', 'event d');
    expect(turnedAway).toEqual(['event a', 'event c', 'event d']);
    expect(log).toEqual([]);
  });

  it('can be withdrawn: later calls run, dropped ones do not', () => {
    const { gate, log, turnedAway, call } = createDoor();
    gate.open(null);
    call('a', 'event a');
    gate.open(undefined);
    call('b', 'event b');
    gate.open(visitor('ann'));
    expect(log).toEqual(['b ann']);
    expect(turnedAway).toEqual(['event a']);
  });
});

describe('a stored value', () => {
  it.each(['01234567-89ab-4cde-8f01-23456789abcd', 'ffffffff-ffff-4fff-bfff-ffffffffffff'])(
    'is a visitor id: %s',
    (thread) => {
      expect(isThread(thread)).toBe(true);
    },
  );

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['no text', ''],
    ['any text', 'text'],
    ['an upper-case one', '01234567-89AB-4CDE-8F01-23456789ABCD'],
    ['one without dashes', '0123456789ab4cde8f0123456789abcd'],
    ['one that is too short', '01234567-89ab-4cde-8f01-23456789abc'],
    ['one that is too long', '01234567-89ab-4cde-8f01-23456789abcde'],
    ['one with a line break', '01234567-89ab-4cde-8f01-23456789abcd\n'],
    ['one of other letters', '01234567-89ab-4cde-8f01-23456789abcg'],
    ['one in a list', ['01234567-89ab-4cde-8f01-23456789abcd']],
    ['an object', { thread: '01234567-89ab-4cde-8f01-23456789abcd' }],
  ])('is not a visitor id: %s', (_what, value) => {
    expect(isThread(value)).toBe(false);
  });
});
