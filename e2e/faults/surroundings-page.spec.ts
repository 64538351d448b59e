import { isAll } from '../support/tags.ts';
import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { answer, slow } from './support/faults.ts';
import { trackAndLeave } from './support/leave.ts';
import { before } from './support/page.ts';

declare global {
  interface Window {
    /** How far the page's clock is off, in ms. */
    shift: number;
  }
}

const TEN_YEARS = 10 * 365 * 24 * 3_600_000;

/** A clock that the test can set. */
const shiftClock = (by: number) => {
  window.shift = by;
  const RealDate = Date;
  const now = () => RealDate.now() + window.shift;
  // With a getter in between, `Date.now` that a script has kept follows, too.
  window.Date = new Proxy(RealDate, {
    construct: (target, args) => Reflect.construct(target, args.length ? args : [now()]),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
};

/** Whether the time is within a minute of now. A slow machine takes some of it. */
const isNow = (timestamp: string) => Math.abs(Date.now() - Date.parse(timestamp)) < 60_000;

const setClock = (tab: Tab, by: number) =>
  tab.evaluate((shift) => {
    window.shift = shift;
  }, by);

for (const [title, by] of [
  ['ahead', TEN_YEARS],
  ['back', -TEN_YEARS],
] as const) {
  fault(
    58,
    `the clock jumps ten years ${title} during the visit`,
    async (stage) => {
      stage.site.fault = answer(503, { times: 1 });
      const tab = await stage.visit({ query: before(shiftClock, 0) });
      await stage.track(tab, 5);
      await expect.poll(() => stage.site.requests.length).toBeGreaterThan(0);
      await setClock(tab, by);
      await stage.track(tab, 5);
      await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(10);
      // The relay corrects them all, or the page's clock goes on.
      expect((await stage.arrived()).filter(({ timestamp }) => !isNow(timestamp))).toEqual([]);
      // The clock also changes while a request is in flight.
      stage.site.fault = slow(300);
      const { length } = stage.site.requests;
      await stage.track(tab, 5);
      await expect.poll(() => stage.site.requests.length).toBeGreaterThan(length);
      await setClock(tab, 0);
      await stage.track(tab, 5);
      await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(20);
      expect((await stage.arrived()).filter(({ timestamp }) => !isNow(timestamp))).toEqual([]);
    },
    { shownBy: ['e2e/clocks.spec.ts', 'test/tracker/clocks.test.ts'] },
  );

  fault(
    58,
    `the clock was ten years ${title} at the last visit`,
    async (stage) => {
      stage.site.fault = answer(503);
      const query = before(shiftClock, by);
      const [sender, other] = [await stage.visit({ query }), await stage.visit({ query })];
      await stage.track(sender, 5);
      await expect.poll(() => stage.site.requests.length).toBeGreaterThan(1);
      // Both pages leave a lease or a back-off that ends in another decade.
      await stage.track(other, 5);
      await sender.close();
      await other.close();
      stage.site.fault = undefined;
      const tab = await stage.visit();
      await stage.track(tab, 5);
      // Events of ten years ago are older than `maxAge`, and the page that finds them cannot know that a clock was wrong.
      const expired = title === 'back' ? Array.from({ length: 10 }, (_, n) => n) : [];
      stage.drop(expired, 'expired');
      await expect.poll(async () => (await stage.arrived()).length).toBe(15 - expired.length);
      expect(await tab.evaluate(() => window.told.dropped)).toEqual(expired.map((n) => [n, 'expired']));
    },
    { shownBy: ['test/courier/lease.test.ts', 'test/tracker/clocks.test.ts'] },
  );
}

/** How long (ms) the page is blocked: a short time, because a blocked page takes a whole processor from the other tests. */
const BLOCKED_FOR = process.env.FAULT_LONG ? 60_000 : isAll ? 5000 : 2000;

/** The page requests this path when it is about to block. */
const BLOCKED = '/api/blocked';

fault(59, 'main thread blocked, with a request in flight and a second tab', async (stage) => {
  const [tab, other] = [await stage.visit(), await stage.visit()];
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  stage.site.fault = async ({ path, response, forward }) => {
    if (path !== BLOCKED) {
      await blocked;
      return await forward();
    }
    response.end();
    release();
  };
  await stage.track(tab, 10);
  await expect.poll(() => stage.site.requests.length).toBe(1);
  const numbers = stage.next(10);
  const blocking = tab.evaluate(
    ({ run, from, count, ms, path }) => {
      // The loop follows in the same task. The answer is sent now, and the page cannot read it before the loop ends.
      const request = new XMLHttpRequest();
      request.open('POST', path, false);
      request.send();
      const until = performance.now() + ms;
      while (performance.now() < until);
      for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
    },
    { ...numbers, ms: BLOCKED_FOR, path: BLOCKED },
  );
  await stage.track(other, 10);
  await blocking;
  for (const one of [tab, other])
    await expect
      .poll(() => one.evaluate(() => window.told.delivered.length), { timeout: 40_000 })
      .toBeGreaterThanOrEqual(10);
  await expect.poll(async () => (await stage.arrived()).length).toBe(30);
});

fault(
  59,
  'CPU 20 × slower',
  async (stage) => {
    const tab = await stage.visit({ path: '/blank', wait: 'load' });
    const session = await stage.browser.cdp?.(tab);
    await session?.send('Emulation.setCPUThrottlingRate', { rate: 20 });
    await stage.visit({ tab });
    await stage.track(tab, 200);
    await trackAndLeave(stage, tab);
    await stage.track(tab, 20);
    await expect.poll(async () => (await stage.arrived()).length, { timeout: 30_000 }).toBe(225);
    await session?.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  },
  { cannot: { firefox: 'its driver throttles nothing', webkit: 'its driver throttles nothing' }, isLong: true },
);

/** Replaces methods of lists as Prototype 1.6 and 1.7 do. */
const replaceListMethods = () => {
  const methods = {
    entries(this: unknown[]) {
      return [...this];
    },
    reduce(this: unknown[]) {
      return this.length > 1 ? this : this[0];
    },
  };
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(Array.prototype, name, { configurable: true, enumerable: true, writable: true, value });
};

fault(80, 'a library replaces methods of lists, and the next page finds stored events', async (stage) => {
  const query = before(replaceListMethods);
  stage.site.fault = answer(503);
  const tab = await stage.visit({ query });
  await stage.track(tab, 10);
  await expect.poll(() => stage.site.requests.length).toBeGreaterThan(0);
  await stage.visit({ query, path: '/page/2', tab });
  await stage.track(tab, 5);
  stage.site.fault = undefined;
  await tab.evaluate(() => window.clew('flush'));
  await expect.poll(async () => (await stage.arrived()).length).toBe(15);
  expect(await tab.evaluate(() => window.clew('stats'))).toMatchObject({ tracked: 5, delivered: 5, queued: 0 });
});
