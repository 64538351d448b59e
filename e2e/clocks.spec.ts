import type { Page } from '@playwright/test';
import { firstOf } from './support/tags.ts';
import { expect, test } from './support/test.ts';

declare global {
  interface Window {
    /** How far the page's clock is ahead, in ms. */
    ahead: number;
  }
}

const HOUR = 3_600_000;
const TEN_YEARS = 10 * 365 * 24 * HOUR;

/** A clock that the test can set. */
const wrongClock = (ahead: number) => {
  window.ahead = ahead;
  const RealDate = Date;
  const now = () => RealDate.now() + window.ahead;
  window.Date = new Proxy(RealDate, {
    construct: (target, args) => Reflect.construct(target, args.length ? args : [now()]),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
};

/** Tracks events that have the true time of their call. */
const track = (page: Page, count: number) =>
  page.evaluate((times) => {
    for (let n = 0; n < times; n++) window.clew('track', 'timed', { at: Date.now() - window.ahead });
  }, count);

for (const [title, ahead] of firstOf([
  ['ten years ahead', TEN_YEARS],
  ['ten years behind', -TEN_YEARS],
  ['three hours ahead', 3 * HOUR],
] as const))
  test(`events of a clock that is ${title} are stored with the true time, in order`, { tag: '@promise' }, async ({
    demo,
    visitor,
  }) => {
    const { page } = visitor;
    await page.addInitScript(wrongClock, ahead);
    await visitor.visit();
    await track(page, 2);
    await visitor.clew('flush');
    // The clock is set back in the middle of the page load.
    await page.evaluate((by) => {
      window.ahead -= by;
    }, HOUR);
    await track(page, 2);
    await visitor.clew('flush');
    await track(page, 2);
    const loaded = page.waitForEvent('load');
    // Handed over by a beacon.
    await page.evaluate(() => {
      window.clew('track', 'timed', { at: Date.now() - window.ahead });
      location.href = '/blank?next';
    });
    await loaded;
    await visitor.load();
    await track(page, 1);
    await expect.poll(() => demo.events('timed')).toHaveLength(8);
    const events = (await demo.events('timed')).map(({ timestamp, payload }) => ({
      time: Date.parse(timestamp),
      at: (payload as { at: number }).at,
    }));
    for (const { time, at } of events) expect(Math.abs(time - at)).toBeLessThan(1000);
    // The events of one page load. The relay measures each page load by itself.
    const times = [...events].sort((one, other) => one.at - other.at).map(({ time }) => time);
    expect(times.slice(0, 7)).toEqual([...times.slice(0, 7)].sort((one, other) => one - other));
  });
