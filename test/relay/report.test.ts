import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryBooks } from '../../src/relay/bookStore.ts';
import { createBooks } from '../../src/relay/books.ts';
import { createAccount } from '../../src/relay/report.ts';
import type { RelayReport } from '../../src/relay.ts';

afterEach(() => vi.useRealTimers());

/** An account of events and of page loads, with the reports that it has made. */
const open = () => {
  const reports: RelayReport[] = [];
  const books = createBooks(memoryBooks(), 1000, (error) => {
    throw error;
  });
  return { account: createAccount((report) => reports.push(report), 1000, books), books, reports };
};

describe('the relay reports', () => {
  it('once per interval, as soon as something has changed', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const { account, reports } = open();
    await account.emitIfDue();
    vi.advanceTimersByTime(1000);
    await account.emitIfDue();
    expect(reports).toEqual([]);
    account.count('rejected', 2);
    await account.emitIfDue();
    expect(reports).toEqual([{ taken: 0, repeats: 0, rejected: 2, missing: 0, corrected: 0, books: [] }]);
    account.count('taken', 1);
    vi.advanceTimersByTime(999);
    await account.emitIfDue();
    expect(reports).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await account.emitIfDue();
    expect(reports.at(-1)).toMatchObject({ taken: 1, rejected: 2 });
  });

  it('no loss that it cannot know', async () => {
    const reports: RelayReport[] = [];
    const store = { ...memoryBooks(), totals: () => Promise.reject(new Error('away')) };
    const account = createAccount(
      (report) => reports.push(report),
      1000,
      createBooks(store, 1000, () => {}),
    );
    account.count('taken', 1);
    await account.emit();
    expect(reports).toEqual([
      { taken: 1, repeats: 0, rejected: 0, missing: undefined, corrected: 0, books: undefined },
    ]);
  });

  it('nothing if nothing has changed', async () => {
    const { account, reports } = open();
    account.count('taken', 0);
    account.count('repeats', 0);
    await account.emit();
    expect(reports).toEqual([]);
    account.count('taken', 1);
    await account.emit();
    await account.emit();
    expect(reports).toHaveLength(1);
  });

  it('a copy, which later events do not change', async () => {
    const { account, reports } = open();
    account.count('taken', 1);
    await account.emit();
    account.count('taken', 1);
    await account.emit();
    expect(reports).toMatchObject([{ taken: 1 }, { taken: 2 }]);
  });

  it('the missing events of all page loads together, also if only these have changed', async () => {
    const { account, books, reports } = open();
    const stated = { engine: 'gecko', day: new Date().toISOString().slice(0, 10), release: '1' };
    await books.add(new Map([7, 8].map((load) => [load, { ...stated, count: load, closed: load }])));
    account.changed();
    await account.emit();
    expect(reports).toMatchObject([{ taken: 0, missing: 15, books: [{ tracked: 15, missing: 15 }] }]);
  });
});
