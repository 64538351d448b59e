import { randomUUID } from 'node:crypto';
import type { FactBrowser, FactTab, Holder } from '../../sim/facts/fact.ts';
import { facts } from '../../sim/facts/facts.ts';
import type { Engine, Tab } from '../faults/engines/engine.ts';
import { expect, test } from '../faults/support/fault.ts';
import { startHolder } from './holder.ts';
import { prerender } from './prerender.ts';

const awaitFreeze = () => {
  const frozen = new Promise((resolve) => document.addEventListener('freeze', resolve, { once: true }));
  Object.assign(window, { frozen });
};

const isFrozen = async () => void (await (window as unknown as { frozen: Promise<Event> }).frozen);

const tabOf = (engine: Engine, tab: Tab, address: string): FactTab => {
  const next = () => tab.goto(`${address}/blank?next`);
  const setState = async (state: 'frozen' | 'active') => {
    const session = await engine.cdp?.(tab);
    await session?.send('Page.setWebLifecycleState', { state });
  };
  return {
    evaluate: (fn, arg) => tab.evaluate(fn as never, arg as never),
    async navigate() {
      // A listener to `unload` keeps the page out of the back/forward cache.
      await tab.evaluate(() => addEventListener('unload', () => {}));
      await next();
    },
    leave: next,
    async back() {
      await tab.back();
      // The driver may still ask the page that is left.
      const search = () => tab.evaluate(() => location.search).catch(() => '?next');
      await expect.poll(search).toBe('');
    },
    crash: async () => tab.crash?.(),
    async freeze() {
      await tab.evaluate(awaitFreeze);
      await setState('frozen');
      await tab.evaluate(isFrozen);
    },
    async thaw() {
      await setState('active');
      await tab.activate();
    },
  };
};

const browserOf = (engine: Engine, address: string, holder: Holder): FactBrowser => ({
  holder,
  async open() {
    const tab = await engine.newTab();
    await tab.goto(`${address}/blank`);
    return tabOf(engine, tab, address);
  },
  prerender,
});

for (const { name, play, outcome, differences = {}, cannot = {} } of facts) {
  test(name, async ({ engine, shared, collector }) => {
    // The report names the fact and the reason.
    test.skip(cannot[engine] !== undefined, cannot[engine] ?? '');
    const browser = await shared();
    const holder = await startHolder();
    try {
      const seen = await play(browserOf(browser, collector.address, holder), `fact ${randomUUID()}`);
      expect(seen).toEqual(engine in differences ? differences[engine] : outcome);
    } finally {
      await browser.closeTabs();
      holder.stop();
    }
  });
}
