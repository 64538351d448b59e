import { expect, fault } from './support/fault.ts';
import { hang } from './support/faults.ts';

declare global {
  interface Window {
    hasComeBack?: boolean;
  }
}

fault(34, 'the sending tab navigates away, another one opens, and the first one comes back', async (stage) => {
  const { site } = stage;
  const first = await stage.visit();
  await first.evaluate(() =>
    addEventListener('pageshow', ({ persisted }) => {
      window.hasComeBack = persisted;
    }),
  );
  site.fault = hang({ times: 1 });
  await stage.track(first, 3);
  await expect.poll(() => site.requests.length).toBe(1);
  await first.goto(`${site.origin}/blank`);
  const second = await stage.visit({ path: '/page/second' });
  await expect.poll(async () => (await stage.arrived()).length).toBe(3);
  await expect.poll(() => stage.stored(second)).toBe(0);
  await first.activate();
  await first.back();
  await stage.reached(first, '/page/1');
  expect(await first.evaluate(() => window.hasComeBack)).toBe(true);

  // It may send again what it has not heard of.
  await first.evaluate(() => window.clew('flush'));
  await expect.poll(() => stage.stored(first)).toBe(0);

  // Both are there now, and have something to send; each has its turn.
  const sent = site.requests.length;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  site.fault = async ({ forward }) => {
    await released;
    await forward();
  };
  await stage.track(second, 5);
  await expect.poll(() => site.requests.length).toBe(sent + 1);
  await stage.track(first, 5);
  await first.evaluate(() => window.clew('flush'));
  expect(site.requests, 'one sender at a time').toHaveLength(sent + 1);
  release();
  await expect.poll(async () => (await stage.arrived()).length).toBe(13);
  const uuids = site.requests.slice(sent).flatMap((request) => request.uuids);
  expect(new Set(uuids).size, 'nothing twice').toBe(uuids.length);
});
