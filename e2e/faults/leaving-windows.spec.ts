import { isAll } from '../support/tags.ts';
import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';

interface Closing {
  run: string;
  from: number;
  count: number;
  /** Whether the popup knows its visitor, and so has its database open, before it tracks. */
  isOpen: boolean;
  byItself: boolean;
}

/**
 * Opens a popup with clew, which tracks and closes in the same task. The popup's own code or its opener closes the popup. The
 * driver does not wait for the end, because it cannot wait while windows open and close.
 */
const openAndClose = ({ run, from, count, isOpen, byItself }: Closing) => {
  const rest = () => new Promise((resolve) => setTimeout(resolve, 5));
  const work = (popup: Window, run: string, from: number, count: number) => {
    for (let n = from; n < from + count; n++) popup.clew('track', 'ledger', { run, n });
    popup.close();
  };
  setTimeout(async () => {
    const popup = window.open('/page/popup', '_blank') as (Window & typeof globalThis) | null;
    if (!popup) throw new Error('no popup');
    // A popup begins with an empty page.
    const isThere = () => popup.location.pathname === '/page/popup' && popup.document.readyState === 'complete';
    while (!isThere()) await rest();
    if (isOpen) await popup.clew('correlationValue');
    // A function of the popup's own realm runs there as its page's code does.
    const there = popup.Function(`return ${work}`)() as typeof work;
    if (byItself) popup.setTimeout(() => there(popup, run, from, count));
    else work(popup, run, from, count);
    while (!popup.closed) await rest();
    document.title = `${from} closed`;
  });
};

for (const byItself of [true, false]) {
  fault(
    12,
    byItself ? 'window.close() right after track' : 'a popup closed by its opener right after track',
    async (stage) => {
      // The opener has no tracker that could do the popup's work.
      const opener = await stage.visit({ path: '/blank', wait: 'load' });
      for (let round = 0; round < 6; round++) {
        const numbers = stage.next(5);
        await opener.evaluate(openAndClose, { ...numbers, isOpen: round % 2 === 1, byItself });
        await expect.poll(() => opener.evaluate(() => document.title)).toBe(`${numbers.from} closed`);
      }
    },
    byItself ? { shownBy: ['e2e/leaving.spec.ts'] } : { isLong: true },
  );
}

const openFrame = (tab: Tab, isOpen: boolean) =>
  tab.evaluate(async (waits) => {
    const frame = document.createElement('iframe');
    frame.src = '/page/frame';
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.append(frame);
    await loaded;
    if (waits) await frame.contentWindow?.clew('correlationValue');
  }, isOpen);

for (const [how, query, handler] of [
  ['', 'tag=none', undefined],
  [', from a document that has clew, too', '', undefined],
  // While the service is down, handovers fail, so the events have to be stored.
  [', the service being down', 'tag=none', answer(503)],
] as const) {
  fault(
    13,
    `an iframe with clew removed right after track${how}`,
    async (stage) => {
      const tab = await stage.visit({ query, wait: 'load' });
      stage.site.fault = handler;
      for (let round = 0; round < (isAll ? 10 : 4); round++) {
        await openFrame(tab, round % 2 === 1);
        await tab.evaluate(({ run, from, count }) => {
          const frame = document.querySelector('iframe');
          for (let n = from; n < from + count; n++) frame?.contentWindow?.clew('track', 'ledger', { run, n });
          frame?.remove();
        }, stage.next(3));
      }
      expect(await tab.evaluate(() => document.querySelectorAll('iframe').length)).toBe(0);
    },
    { isLong: how.includes('from a document') },
  );
}
