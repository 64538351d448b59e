import { randomUUID } from 'node:crypto';
import type { FactBrowser, Holder } from '../../sim/facts/fact.ts';
import { facts } from '../../sim/facts/facts.ts';
import type { Engine } from '../faults/engines/engine.ts';
import { expect, test } from '../faults/support/fault.ts';
import { startHolder } from './holder.ts';

const browserOf = (engine: Engine, address: string, holder: Holder): FactBrowser => ({
  holder,
  async open() {
    const tab = await engine.newTab();
    await tab.goto(`${address}/blank`);
    // A listener to `unload` keeps the page out of the back/forward cache, because the facts assume that it ends.
    await tab.evaluate(() => addEventListener('unload', () => {}));
    return {
      evaluate: (fn, arg) => tab.evaluate(fn as never, arg as never),
      navigate: () => tab.goto(`${address}/blank?next`),
    };
  },
});

for (const { name, play, outcome, differences = {} } of facts) {
  test(name, async ({ engine, shared, collector }) => {
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
