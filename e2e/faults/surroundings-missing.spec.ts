import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { trackAndLeave } from './support/leave.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

/** Features that old or unusual browsers lack. Each is removed before the page's own scripts run. */
const missing: Record<string, () => void> = {
  BroadcastChannel: () => Object.defineProperty(window, 'BroadcastChannel', { value: undefined }),
  'commit of transactions': () => Object.defineProperty(IDBTransaction.prototype, 'commit', { value: undefined }),
  keepalive: () => {
    const { fetch } = window;
    Object.defineProperty(Request.prototype, 'keepalive', { value: undefined });
    window.fetch = (input, init) => fetch(input, { ...init, keepalive: false });
  },
  fetchLater: () => Object.defineProperty(window, 'fetchLater', { value: undefined }),
  CompressionStream: () => Object.defineProperty(window, 'CompressionStream', { value: undefined }),
  randomUUID: () => Object.defineProperty(crypto, 'randomUUID', { value: undefined }),
};

/** Two tabs, a failure, and a page that is left with events unsent. */
const play = async (stage: Stage, query: string) => {
  stage.site.fault = answer(503, { times: 1 });
  const [tab, other] = [await stage.visit({ query }), await stage.visit({ query })];
  await stage.track(tab, 5);
  await expect.poll(() => stage.site.requests.length).toBeGreaterThan(0);
  await stage.track(other, 5);
  // Without a channel, a tab learns late which of its events another tab has sent.
  await expect.poll(async () => (await stage.arrived()).length).toBe(10);
  const visitorIds = await Promise.all([tab, other].map((one) => one.evaluate(() => window.clew('correlationValue'))));
  expect(visitorIds[0]).toBe(visitorIds[1]);
  await trackAndLeave(stage, tab, `/page/2?${query}`);
  await stage.track(tab, 5);
};

for (const [name, remove] of Object.entries(missing)) {
  fault(60, `no ${name}`, (stage) => play(stage, before(remove)), { isLong: true });
}

fault(60, 'none of these features at once', async (stage) => {
  await play(
    stage,
    Object.values(missing)
      .map((remove) => before(remove))
      .join('&'),
  );
});

fault(60, 'plain http, where many features are missing', async (stage) => {
  // In this form, no browser trusts an address of this machine.
  const origin = stage.site.origin.replace('localhost', '[::ffff:127.0.0.1]');
  const tab = await stage.browser.newTab();
  await tab.goto(`${origin}/page/1`);
  await tab.evaluate(() => window.clew('correlationValue'));
  expect(await tab.evaluate(() => [isSecureContext, typeof crypto.randomUUID])).toEqual([false, 'undefined']);
  await stage.track(tab, 5);
  await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(5);
  stage.site.fault = answer(503);
  await stage.track(tab, 5);
  await tab.evaluate(() => window.clew('flush'));
  expect(await stage.stored(tab)).toBe(5);
  await trackAndLeave(stage, tab);
  stage.site.fault = undefined;
  await tab.evaluate(() => window.clew('flush'));
  // Settling reads the store of another origin.
  await expect.poll(async () => (await stage.arrived()).length).toBe(15);
  await expect.poll(() => stage.stored(tab)).toBe(0);
});
