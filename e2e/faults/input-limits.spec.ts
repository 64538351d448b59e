import { expect, fault } from './support/fault.ts';
import { slow } from './support/faults.ts';

interface Counts {
  tracked: number;
  delivered: number;
  queued: number;
  dropped: Record<string, number>;
}

fault(
  50,
  'events of 59 KB, 61 KB and 1 MB, among small ones',
  async (stage) => {
    const tab = await stage.visit();
    const sizes = [10, 59_000, 10, 61_000, 10, 2 ** 20, 10, 59_000, 59_000, 10];
    const { run, from } = stage.next(sizes.length);
    await tab.evaluate(
      ({ run, from, sizes }) => {
        for (const [index, size] of sizes.entries())
          window.clew('track', 'ledger', { run, n: from + index, text: 'x'.repeat(size) });
      },
      { run, from, sizes },
    );
    const tooLarge = sizes.flatMap((size, index) => (size > 60_000 ? from + index : []));
    stage.drop(tooLarge, 'too-large');
    await expect.poll(async () => (await stage.arrived()).length).toBe(8);
    expect(await tab.evaluate(() => window.told.dropped)).toEqual(tooLarge.map((n) => [n, 'too-large']));
    for (const { bytes } of stage.site.requests) expect(bytes).toBeLessThanOrEqual(60_000);
  },
  { shownBy: ['test/courier/cut.test.ts', 'test/tracker/limits.test.ts'] },
);

fault(
  50,
  'events of 59 KB, and the page is left immediately',
  async (stage) => {
    const tab = await stage.visit();
    const { run, from } = stage.next(3);
    await tab
      .evaluate(
        ({ run, from }) => {
          for (let n = from; n < from + 3; n++) window.clew('track', 'ledger', { run, n, text: 'x'.repeat(59_000) });
          location.href = '/page/2';
        },
        { run, from },
      )
      .catch(() => {});
    await stage.reached(tab, '/page/2');
  },
  { shownBy: ['e2e/faults/leaving.spec.ts', 'test/courier/cut.test.ts'] },
);

fault(
  51,
  '10,000 in one loop',
  async (stage) => {
    const tab = await stage.visit();
    await stage.track(tab, 10_000);
    await expect
      .poll(() => tab.evaluate(() => window.clew('stats') as Counts), { timeout: 60_000, intervals: [500] })
      .toEqual({ tracked: 10_000, delivered: 10_000, queued: 0, dropped: {} });
  },
  { isLong: true },
);

fault(
  51,
  "100,000 events in 10 s, above the service's rate: memory is bounded, drops are reported",
  async (stage) => {
    stage.site.fault = slow(400);
    const tab = await stage.visit();
    const { run, from } = stage.next(100_000);
    const { most, unbalanced, tracked } = await tab.evaluate(
      ({ run, from }) =>
        new Promise<{ most: number; unbalanced: Counts[]; tracked: number }>((resolve) => {
          const start = Date.now();
          const unbalanced: Counts[] = [];
          let most = 0;
          let tracked = 0;
          const track = () => {
            const due = Math.min(100_000, (Date.now() - start) * 10);
            for (; tracked < due; tracked++) window.clew('track', 'ledger', { run, n: from + tracked });
            const counts = window.clew('stats') as Counts;
            const sum = Object.values(counts.dropped).reduce(
              (total, count) => total + count,
              counts.delivered + counts.queued,
            );
            if (counts.tracked !== tracked || sum !== tracked) unbalanced.push(counts);
            most = Math.max(most, counts.queued);
            if (tracked < 100_000) return;
            clearInterval(timer);
            resolve({ most, unbalanced, tracked });
          };
          const timer = setInterval(track, 10);
        }),
      { run, from },
    );
    expect(unbalanced).toEqual([]);
    expect(tracked).toBe(100_000);
    expect(most).toBe(10_000);
    const dropped = await tab.evaluate(() => window.told.dropped);
    expect(new Set(dropped.map(([, reason]) => reason))).toEqual(new Set(['full']));
    stage.drop(
      dropped.map(([n]) => n ?? -1),
      'full',
    );
    stage.site.fault = undefined;
    await expect
      .poll(() => tab.evaluate(() => (window.clew('stats') as Counts).queued), { timeout: 60_000, intervals: [500] })
      .toBe(0);
    const told = await tab.evaluate(() => window.told);
    expect(told.dropped.length + told.delivered.length).toBe(100_000);
  },
  { isLong: true },
);
