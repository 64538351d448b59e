import type { Handler } from './support/exchange.ts';
import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { deliveredTo, stir, told, trackPadded } from './support/witness.ts';

for (const [number, status] of [
  [26, 401],
  [26, 403],
  [27, 404],
  [27, 405],
] as const) {
  fault(
    number,
    `${status} for a long while, then accepted: all events kept, few requests, one error`,
    async (stage) => {
      stage.site.fault = answer(status, { body: '{"error":"no"}' });
      const tab = await stage.visit();
      for (let page = 1; page <= 3; page++) {
        if (page > 1) await stage.visit({ tab, path: `/page/${page}` });
        await stage.track(tab, 5);
        await expect.poll(async () => (await told(tab)).errors.length).toBe(1);
        const { length } = stage.site.requests;
        // After this status, neither more events nor a network that is back lead to a request.
        for (let round = 0; round < 5; round++) {
          await stage.track(tab, 2);
          await stir(tab);
        }
        expect(stage.site.requests.length).toBe(length);
        const { errors, dropped, delivered } = await told(tab);
        expect(errors).toEqual([expect.stringContaining(String(status))]);
        expect([dropped, delivered]).toEqual([[], []]);
        expect(await stage.stored(tab)).toBe(page * 15);
      }
      // Each page has tried once after it loaded, and may have handed over once when it left.
      expect(stage.site.requests.length).toBeLessThanOrEqual(3 + 2);
      expect(stage.site.requests.map((request) => request.status)).not.toContain(201);
    },
    { isLong: status !== 401 },
  );
}

/** Refuses bodies of more than 10 KB. */
const small: Handler = (exchange) => (exchange.body.length > 10_240 ? answer(413)(exchange) : exchange.forward());

fault(30, '413 above 10 KB, for many small events: the tracker sends smaller batches', async (stage) => {
  stage.site.fault = small;
  const tab = await stage.visit();
  await trackPadded(tab, stage.next(100), 500);
  await expect.poll(() => deliveredTo(tab)).toBe(100);
  const refusals = () => stage.site.requests.filter(({ status }) => status === 413).length;
  const before = refusals();
  // Halved from 60,000 bytes, three times are enough.
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThanOrEqual(3);
  await trackPadded(tab, stage.next(100), 500);
  await expect.poll(() => deliveredTo(tab)).toBe(200);
  expect(refusals()).toBe(before);
  expect((await told(tab)).dropped).toEqual([]);
});

fault(
  30,
  '413 for an event of 50 KB among others and 100 KB alone: both are reported',
  async (stage) => {
    stage.site.fault = small;
    const tab = await stage.visit();
    const huge = stage.next(1);
    await trackPadded(tab, huge, 100_000);
    expect((await told(tab)).dropped).toEqual([[huge.from, 'too-large']]);
    stage.drop([huge.from], 'too-large');
    await stage.track(tab, 5);
    const large = stage.next(1);
    await trackPadded(tab, large, 50_000);
    await stage.track(tab, 5);
    await expect.poll(() => deliveredTo(tab)).toBe(10);
    await expect.poll(async () => (await told(tab)).dropped.slice(1)).toEqual([[large.from, 'rejected']]);
    stage.drop([large.from], 'rejected');
    expect(stage.site.requests.map(({ status }) => status)).toContain(413);
  },
  { isLong: true },
);
