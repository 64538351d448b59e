import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { slow } from './support/faults.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

const NO_FREEZE = {
  firefox: 'it has no freeze event',
  webkit: 'it has no freeze event',
};

interface Numbers {
  run: string;
  from: number;
  count: number;
}

/** Tracks three events, and leaves in the same task or 1 ms later, in turns. The page may be gone before `evaluate` returns. */
const trackAndLeave = async (stage: Stage, tab: Tab, round: number, how: string, to: string) => {
  const numbers: Numbers = stage.next(3);
  await tab
    .evaluate(
      ({ run, from, count, how, to, isAtOnce }) => {
        const next = document.querySelector<HTMLAnchorElement>('#next');
        const form = document.querySelector<HTMLFormElement>('#form');
        if (next) next.href = to;
        if (form) form.action = to;
        const leave = () => {
          if (how === 'location') location.href = to;
          if (how === 'link') next?.click();
          if (how === 'form') form?.requestSubmit();
          if (how === 'back') history.go(-1);
          if (how === 'forward') history.go(1);
        };
        for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
        if (isAtOnce) leave();
        else setTimeout(leave, 1);
      },
      { ...numbers, how, to, isAtOnce: round % 2 === 0 },
    )
    .catch(() => {});
  await stage.reached(tab, to);
};

for (const [how, title, rounds] of [
  ['location', 'location.href = …', 20],
  ['link', 'a link click', 10],
  ['form', 'a form submit', 10],
] as const) {
  const leave = async (stage: Stage) => {
    const tab = await stage.visit();
    for (let round = 0; round < rounds; round++) await trackAndLeave(stage, tab, round, how, `/page/${round + 2}`);
  };
  fault(7, `left by ${title} within 1 ms of track, ${rounds} times`, leave, {
    shownBy: ['e2e/leaving.spec.ts', 'e2e/receipts.spec.ts'],
  });
}

const leaveByHistory = async (stage: Stage) => {
  const tab = await stage.visit();
  await stage.visit({ tab, path: '/page/2' });
  for (let round = 0; round < 5; round++) {
    await trackAndLeave(stage, tab, round, 'back', '/page/1');
    await trackAndLeave(stage, tab, round, 'forward', '/page/2');
  }
};
fault(7, 'left by history.go within 1 ms of track, 10 times', leaveByHistory, { isLong: true });

fault(
  7,
  'left by a link after the service confirmed a request: nothing is sent again',
  async (stage) => {
    const query = `data-base-url=${stage.site.origin}&data-api-key=demo-key`;
    const tab = await stage.visit({ query });
    await stage.track(tab);
    for (let round = 0; round < 6; round++) {
      await tab.evaluate(() => window.clew('flush'));
      const to = `/page/${round + 2}`;
      const leave = ({ run, from, count, to }: Numbers & { to: string }) => {
        for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
        location.href = to;
      };
      await tab.evaluate(leave, { ...stage.next(3), to: `${to}?${query}` }).catch(() => {});
      await stage.reached(tab, to);
      await tab.evaluate(() => window.clew('correlationValue'));
    }
    await tab.evaluate(() => window.clew('flush'));
    expect([...stage.site.stored.values()].filter((times) => times > 1)).toEqual([]);
  },
  { shownBy: ['e2e/leaving.spec.ts'] },
);

fault(
  7,
  'left by the visitor’s own click that its listener tracks',
  async (stage) => {
    const tab = await stage.visit();
    for (let round = 0; round < 3; round++) {
      await tab.evaluate((numbers: Numbers) => {
        const { run, from, count } = numbers;
        addEventListener('click', () => {
          for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
        });
      }, stage.next(3));
      await tab.click(round === 1 ? '#submit' : '#next');
      await stage.reached(tab, round === 1 ? '/page/submitted' : '/page/next');
    }
  },
  { isEngines: true },
);

/** Tracks an event in a listener to each of these types. */
const listen = ({ run, from, types }: { run: string; from: number; types: string[] }) => {
  for (const [index, type] of types.entries()) {
    const say = () => window.clew('track', 'ledger', { run, n: from + index, type });
    addEventListener(type, say, { once: true, capture: true });
  }
};

/** A trace shows that one of two listeners to `pagehide` sometimes never runs when the driver closes the tab. */
const NO_LISTENER = { firefox: 'it does not always run a listener as its driver closes a tab' };

type Moment = [
  how: string,
  types: string[],
  leave: (stage: Stage, tab: Tab) => Promise<void>,
  cannot?: typeof NO_LISTENER,
];
const moments: Moment[] = [
  [
    'as the page is left for another one',
    ['beforeunload', 'pagehide', 'visibilitychange'],
    async (stage, tab) => {
      await tab.evaluate(() => location.assign('/page/next'));
      await stage.reached(tab, '/page/next');
    },
  ],
  [
    'as the tab is closed',
    ['pagehide', 'visibilitychange'],
    async (stage, tab) => {
      await tab.close();
      if (stage.engine !== 'webkit') return;
      // WebKit's driver does not wait until the page is gone. Only a page that opens after that is the next page.
      const witness = await stage.visit({ path: '/blank', wait: 'load' });
      await expect.poll(async () => await stage.known(witness)).toHaveLength(4);
    },
    NO_LISTENER,
  ],
  [
    'as another tab comes to the front',
    ['visibilitychange'],
    async (stage, tab) => {
      const other = await stage.visit();
      await other.activate();
      await expect.poll(() => tab.evaluate(() => document.hidden)).toBe(true);
    },
  ],
];
for (const [how, types, leave, cannot = {}] of moments) {
  fault(
    8,
    `track inside ${types.join(', ')}, ${how}`,
    async (stage) => {
      // One listener is added before all listeners of clew, and one after them.
      const early = before(listen, { ...stage.next(types.length), types });
      const tab = await stage.visit({ query: early });
      await tab.evaluate(listen, { ...stage.next(types.length), types });
      await leave(stage, tab);
    },
    { cannot, ...(how.includes('closed') && { shownBy: ['test/tracker/leaving.test.ts', 'sim/walk/actions.ts'] }) },
  );
}

fault(
  8,
  'track inside freeze',
  async (stage) => {
    const types = ['freeze'];
    const tab = await stage.visit({ query: before(listen, { ...stage.next(1), types }) });
    await tab.evaluate(listen, { ...stage.next(1), types });
    const session = await stage.browser.cdp?.(tab);
    await session?.send('Page.setWebLifecycleState', { state: 'frozen' });
    await tab.close();
  },
  { cannot: NO_FREEZE },
);

/** Tracks `count` events of 4 KB each. */
const trackLong = ({ run, from, count, to }: Numbers & { to?: string }) => {
  const text = 'x'.repeat(4000);
  for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n, text });
  if (to) location.href = to;
};

for (const how of ['for another page', 'by closing the tab'] as const) {
  fault(
    14,
    `left with three times 64 KiB unsent, ${how}, with or without a batch in flight`,
    async (stage) => {
      for (const isInFlight of [false, true]) {
        const tab = await stage.visit();
        await expect.poll(() => stage.stored(tab)).toBe(0);
        const seen = stage.site.requests.length;
        stage.site.fault = isInFlight ? slow(1000) : undefined;
        if (isInFlight) {
          await tab.evaluate(trackLong, stage.next(14));
          await expect.poll(() => stage.site.requests.length).toBeGreaterThan(seen);
        }
        const to = '/page/next';
        await tab.evaluate(trackLong, { ...stage.next(50), ...(how === 'for another page' && { to }) }).catch(() => {});
        if (how === 'for another page') await stage.reached(tab, to);
        await tab.close();
      }
    },
    { isLong: how === 'by closing the tab' },
  );
}
