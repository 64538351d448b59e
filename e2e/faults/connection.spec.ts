import type { Handler } from './support/exchange.ts';
import { expect, fault } from './support/fault.ts';
import {
  halfBody,
  halfHeaders,
  hang,
  resetAfterRequest,
  resetAfterStoring,
  resetMidRequest,
  trickle,
} from './support/faults.ts';
import type { Stage } from './support/stage.ts';
import { deliveredTo, stir, told, trackPadded } from './support/witness.ts';

/** The documented time-out (ms) of a request. */
const REQUEST_TIMEOUT = 20_000;

const silences: [string, (limit: { times: number }) => Handler][] = [
  ['accepts and never answers', hang],
  ['answers one byte per second', trickle],
];
for (const [what, handler] of silences) {
  const isLong = handler === trickle;
  fault(
    20,
    `the server ${what}`,
    async (stage) => {
      stage.site.fault = handler({ times: 1 });
      const tab = await stage.visit();
      await stage.track(tab, 5);
      await expect.poll(() => stage.site.requests.length).toBe(1);
      await stage.track(tab, 5);
      await expect.poll(() => deliveredTo(tab), { timeout: REQUEST_TIMEOUT + 10_000 }).toBe(10);
      const [first, second] = stage.site.requests;
      const waited = (second?.at ?? 0) - (first?.at ?? 0);
      expect(waited).toBeGreaterThan(REQUEST_TIMEOUT - 500);
      // The first batch is sent again as it was, before the other events.
      expect(second?.uuids).toEqual(first?.uuids);
    },
    // A request may take 20 s. The walks in the simulator wait for that, too.
    { isLong: true },
  );

  const cannot =
    handler === trickle ? { webkit: 'tells a page that is left that a body which it cut off is complete' } : {};
  const leave = async (stage: Stage) => {
    stage.site.fault = handler({ times: 1 });
    const tab = await stage.visit();
    await stage.track(tab, 5);
    await expect.poll(() => stage.site.requests.length).toBe(1);
    const [first] = stage.site.requests;
    await stage.visit({ tab, path: '/page/2' });
    await stage.track(tab, 5);
    await expect.poll(async () => (await stage.arrived()).length).toBe(10);
    expect(stage.site.requests.filter(({ uuids }) => uuids.includes(first?.uuids[0] ?? '')).length).toBe(2);
  };
  fault(20, `the server ${what}, and the page is left meanwhile`, leave, { cannot, isLong });
}

/** How often a connection breaks. A browser retries by itself if a reused connection breaks, so one break is not enough. */
const times = 4;
const breaks: [when: string, handler: () => Handler, effect: string, isLong?: boolean][] = [
  ['after the whole request was read', () => resetAfterRequest({ times }), 'nothing stored', true],
  ['after the whole request was stored', () => resetAfterStoring({ times }), 'stored', true],
  ['in mid-request', () => resetMidRequest({ times }), 'nothing stored', true],
  ['after half the headers', () => halfHeaders({ times }), 'nothing stored', true],
  ['after half the headers', () => halfHeaders({ times, isStored: true }), 'stored', true],
  ['after half the body', () => halfBody({ times }), 'nothing stored', true],
  ['after half the body', () => halfBody({ times, isStored: true }), 'stored'],
];
for (const [when, handler, effect, isLong = false] of breaks) {
  fault(
    21,
    `connection reset ${when}, ${effect}`,
    async (stage) => {
      const tab = await stage.visit();
      await stage.track(tab);
      await expect.poll(() => deliveredTo(tab)).toBe(1);
      // The browser reuses its connection by now.
      const before = stage.site.requests.length;
      stage.site.fault = handler();
      // These events need more than one packet.
      await trackPadded(tab, stage.next(50), 1000);
      await expect
        .poll(async () => {
          await stir(tab);
          return deliveredTo(tab);
        })
        .toBe(51);
      const broken = stage.site.requests.slice(before).filter(({ status }) => status === undefined);
      expect(broken.length).toBe(times);
      expect((await told(tab)).dropped).toEqual([]);
      if (effect === 'stored') expect(Math.max(...stage.site.stored.values())).toBeGreaterThan(1);
    },
    { isLong },
  );
}
