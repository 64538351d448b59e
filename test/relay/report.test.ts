import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAccount } from '../../src/relay/report.ts';
import type { RelayReport } from '../../src/relay.ts';
import type { WireEvent } from '../../src/wire.ts';

afterEach(() => vi.useRealTimers());

/** An account, and a function that returns its report. */
const open = () => {
  const reports: RelayReport[] = [];
  const account = createAccount((report) => reports.push(report), 1000);
  const report = () => {
    account.count('repeats', 1);
    account.emit();
    return reports.at(-1);
  };
  const take = (...events: unknown[]) => account.taken(events as WireEvent[]);
  return { account, reports, take, missing: () => report()?.missing, taken: () => report()?.taken };
};
const visitor = (correlationValue: string = randomUUID()) => ({
  at: (page: unknown, event: unknown) => ({ correlationValue, seq: [page, event] }),
});
/** New page loads of other visitors. */
const createCrowd = () => {
  const other = visitor();
  let loads = 0;
  return (count: number) => Array.from({ length: count }, () => other.at(++loads, 1));
};

it.each([[[]], [[1]], [[1, 2, 3]]])('a number of the form %j is ignored, and the report has numbers only', (seq) => {
  const { account, take, missing } = open();
  take({ correlationValue: randomUUID(), seq });
  expect(missing()).toBe(0);
  account.emit();
});

describe('an event counts as missing', () => {
  it('if a later one of its page load was taken', () => {
    const { take, missing } = open();
    const ann = visitor();
    take(ann.at(1, 1), ann.at(1, 4));
    expect(missing()).toBe(2);
    take(ann.at(1, 2));
    expect(missing()).toBe(1);
    take(ann.at(1, 3), ann.at(1, 5));
    expect(missing()).toBe(0);
  });

  it('by visitor and by page load', () => {
    const { take, missing } = open();
    const [ann, ben] = [visitor(), visitor()];
    take(ann.at(1, 1), ann.at(2, 2), ben.at(1, 3));
    expect(missing()).toBe(3);
    take(ann.at(2, 1));
    expect(missing()).toBe(2);
  });

  it('also if another one was taken twice: a duplicate replaces no other number', () => {
    const { take, missing } = open();
    const ann = visitor();
    take(ann.at(1, 1), ann.at(1, 1), ann.at(1, 1));
    expect(missing()).toBe(0);
    take(ann.at(1, 3));
    expect(missing()).toBe(1);
  });

  it('only if its number is a pair of whole numbers from 1 to 999,999', () => {
    const { take, missing, taken } = open();
    const ann = visitor();
    for (const seq of [
      undefined,
      null,
      7,
      '19',
      {},
      { 0: 1, 1: 9 },
      [1, 0],
      [0, 9],
      [1, 1e6],
      [1e6, 9],
      [1, 1.5],
      [-1, 9],
    ])
      take({ correlationValue: 'x', seq });
    for (const odd of ['9', null, Number.NaN, Number.POSITIVE_INFINITY]) take(ann.at(1, odd), ann.at(odd, 9));
    expect(missing()).toBe(0);
    expect(taken()).toBe(20);
    take(ann.at(999_999, 999_999));
    expect(missing()).toBe(999_998);
  });
});

describe('memory is bounded: the report', () => {
  it('keeps the newest 10,000 page loads', () => {
    const { take, missing } = open();
    const [ann, crowd] = [visitor(), createCrowd()];
    take(ann.at(1, 1), ...crowd(19_998));
    take(ann.at(1, 3));
    expect(missing()).toBe(1);
  });

  it('drops a page load after 20,000 others, but keeps its missing events', () => {
    const { take, missing } = open();
    const [ann, crowd] = [visitor(), createCrowd()];
    take(ann.at(1, 2), ...crowd(19_999));
    expect(missing()).toBe(1);
    // It counts as a new page load, of which two are missing.
    take(ann.at(1, 3));
    expect(missing()).toBe(3);
  });

  it('keeps an older page load that continues', () => {
    const { take, missing } = open();
    const [ann, crowd] = [visitor(), createCrowd()];
    take(ann.at(1, 1), ...crowd(10_000));
    take(ann.at(1, 2), ...crowd(15_000));
    take(ann.at(1, 3));
    expect(missing()).toBe(0);
  });
});

describe('the relay reports', () => {
  it('once per interval, as soon as something has changed', () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const { account, reports, take } = open();
    account.emitIfDue();
    vi.advanceTimersByTime(1000);
    account.emitIfDue();
    expect(reports).toEqual([]);
    account.count('rejected', 2);
    account.emitIfDue();
    expect(reports).toEqual([{ taken: 0, repeats: 0, rejected: 2, missing: 0, corrected: 0 }]);
    take(visitor().at(1, 1));
    vi.advanceTimersByTime(999);
    account.emitIfDue();
    expect(reports).toHaveLength(1);
    vi.advanceTimersByTime(1);
    account.emitIfDue();
    expect(reports.at(-1)).toEqual({ taken: 1, repeats: 0, rejected: 2, missing: 0, corrected: 0 });
  });

  it('nothing if nothing has changed', () => {
    const { account, reports, take } = open();
    take();
    account.count('repeats', 0);
    account.count('rejected', 0);
    account.emit();
    expect(reports).toEqual([]);
    take(visitor().at(1, 1));
    account.emit();
    account.emit();
    expect(reports).toHaveLength(1);
  });

  it('a copy, which later events do not change', () => {
    const { account, reports, take } = open();
    take(visitor().at(1, 1));
    account.emit();
    take(visitor().at(1, 1));
    expect(reports).toMatchObject([{ taken: 1 }]);
  });
});
