import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

interface Leaving {
  run: string;
  from: number;
  count: number;
  /** `load` of the bundle's script: it has just run, and no database can be open. `DOMContentLoaded`: only the stub is there. */
  when: string;
  /** Beginning of the key in localStorage that has events before the database has them. */
  key: string;
}

/** Runs before the page's own code: tracks and leaves in the task of this event. */
const trackAndLeave = ({ run, from, count, when, key }: Leaving) => {
  document.addEventListener(
    when,
    ({ target }) => {
      if (when === 'load' && !(target instanceof HTMLScriptElement)) return;
      for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
      // Read in a microtask, because the database may open soon after.
      const journaled = () => JSON.stringify(Object.entries(localStorage).filter(([name]) => name.startsWith(key)));
      if (when === 'load') queueMicrotask(() => sessionStorage.setItem(key, journaled()));
      location.href = '/blank';
    },
    // `load` of an element does not bubble.
    { capture: true },
  );
};

/** Visits a page that leaves that early. The next page checks the events in localStorage. */
const visitShortly = async (stage: Stage, tab: Tab, when: string, key: string) => {
  const numbers = stage.next(5);
  const bundle = when === 'load' ? '' : '&delay=1000';
  const early = before(trackAndLeave, { ...numbers, when, key });
  // The page leaves before its own `load`.
  await stage.visit({ tab, query: early + bundle, wait: 'load' }).catch(() => {});
  await stage.reached(tab, '/blank');
  const journaled = await tab.evaluate(
    (key) => sessionStorage.getItem(key) ?? JSON.stringify({ ...localStorage }),
    key,
  );
  // The text is JSON that contains JSON, so its quotes are escaped.
  expect(journaled.replaceAll('\\', '')).toContain(`"n":${numbers.from + 4}`);
};

for (const [title, when, key] of [
  ['before the database is open', 'load', 'clew.page /clew'],
  ['before the bundle has loaded', 'DOMContentLoaded', 'clew.calls'],
] as const) {
  const leave = async (stage: Stage) => {
    const tab = await stage.browser.newTab();
    for (let round = 0; round < 3; round++) {
      await visitShortly(stage, tab, when, key);
      // Two visits in a row that left too early, and one after a visit that did not.
      if (round !== 1) continue;
      await stage.visit({ tab });
      await expect.poll(async () => (await stage.arrived()).length).toBe(10);
    }
    await stage.settle();
    const [first, ...others] = await stage.arrived();
    stage.assign(
      others.map(({ payload }) => (payload as { n: number }).n),
      first?.correlationValue ?? '',
    );
  };
  // Only a listener to `beforeunload` would run, and it could keep the page out of the back/forward cache.
  const cannot = when === 'load' ? {} : { webkit: 'sends no pagehide to a page that is left before it has loaded' };
  const more = when === 'load' ? { isEngines: true } : { shownBy: ['e2e/snippet.spec.ts'] };
  fault(15, `left ${title}, first visit and returning visits`, leave, { cannot, ...more });
}

fault(
  15,
  'left with the database open, before the page has finished loading',
  async (stage) => {
    const tab = await stage.browser.newTab();
    for (let round = 0; round < 3; round++) {
      const leave = before(
        ({ run, from, count, to }) => {
          document.addEventListener('DOMContentLoaded', () => {
            // The page is not loaded before its image.
            document.body.append(Object.assign(new Image(), { src: '/dist/clew.js?delay=1000' }));
          });
          addEventListener('load', () => localStorage.setItem('isLoaded', 'yes'));
          const timer = setInterval(async () => {
            if ('q' in window.clew) return;
            clearInterval(timer);
            await window.clew('correlationValue');
            for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
            location.href = to;
          }, 10);
        },
        { ...stage.next(5), to: '/blank' },
      );
      await stage.visit({ tab, query: leave, wait: 'load' }).catch(() => {});
      await stage.reached(tab, '/blank');
      expect(await tab.evaluate(() => localStorage.isLoaded)).toBeFalsy();
    }
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

fault(
  15,
  'two pages left at once before the database opens, while the service is down',
  async (stage) => {
    // This page has no tracker, which would be a third one.
    const tab = await stage.visit({ query: 'tag=none', wait: 'load' });
    stage.site.fault = answer(503);
    await tab.evaluate(async ({ run, from, count }) => {
      const opening = indexedDB.open('clew');
      opening.onupgradeneeded = () => opening.result.createObjectStore('clew');
      await new Promise((resolve) => opening.addEventListener('success', resolve));
      const store = opening.result.transaction('clew', 'readwrite').objectStore('clew');
      let isHeld = true;
      // A transaction with a pending request stays open, and no other transaction begins.
      const hold = () => isHeld && store.get('').addEventListener('success', hold);
      hold();
      const frames = [0, 1].map(() => Object.assign(document.createElement('iframe'), { src: '/page/frame' }));
      const loaded = frames.map((frame) => new Promise((resolve) => frame.addEventListener('load', resolve)));
      document.body.append(...frames);
      await Promise.all(loaded);
      for (let n = from; n < from + count; n++) {
        // Each event is tracked in a task of its own.
        await new Promise((resolve) => setTimeout(resolve));
        frames[n % 2]?.contentWindow?.clew('track', 'ledger', { run, n });
      }
      for (const frame of frames) frame.remove();
      isHeld = false;
      opening.result.close();
    }, stage.next(6));
  },
  { shownBy: ['sim/walk/themes/storage.ts'] },
);
