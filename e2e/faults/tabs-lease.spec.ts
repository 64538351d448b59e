import type { Tab } from './engines/engine.ts';
import type { Handler } from './support/exchange.ts';
import { expect, fault } from './support/fault.ts';
import { hang } from './support/faults.ts';
import type { Stage } from './support/stage.ts';

declare global {
  interface Window {
    hasFrozen?: boolean;
  }
}

/** How long (ms) a tab may send before another tab takes over. */
const LEASE = 22_000;
/** One lease has to run out, and not two. A busy machine needs the rest. */
const PATIENCE = { timeout: 2 * LEASE - 1000 };
/** Too short (ms) for a tab to wait until a lease ends. */
const AT_ONCE = { timeout: LEASE / 2 };

const cannotFreeze = { firefox: 'its driver cannot freeze a tab', webkit: 'its driver cannot freeze a tab' };
const cannotCrash = {
  firefox: 'its driver cannot crash a tab alone',
  webkit: 'its driver cannot crash a tab alone',
};

const arrives = (stage: Stage, count: number, patience: { timeout: number }) =>
  expect.poll(async () => (await stage.arrived()).length, patience).toBe(count);
/** Ids of the events that went to the demo more than once. */
const repeats = ({ site }: Stage) => [...site.stored].flatMap(([uuid, times]) => (times > 1 ? uuid : []));
const isSending = (stage: Stage, requests = 1) => expect.poll(() => stage.site.requests.length).toBe(requests);

const setState = async ({ browser }: Stage, tab: Tab, state: 'frozen' | 'active') => {
  const session = await browser.cdp?.(tab);
  await session?.send('Page.setWebLifecycleState', { state });
};
/** Only a hidden tab freezes. */
const freeze = async (stage: Stage, tab: Tab) => {
  await tab.evaluate(() => {
    document.addEventListener('freeze', () => {
      window.hasFrozen = true;
    });
  });
  await setState(stage, tab, 'frozen');
  await expect.poll(() => tab.evaluate(() => window.hasFrozen)).toBe(true);
};

fault(
  33,
  'the sending tab enters an endless loop',
  async (stage) => {
    // The browser is a separate one, because a tab in an endless loop cannot be closed without it.
    const browser = await stage.openOwn();
    const looping = await stage.visit({ browser });
    const other = await stage.visit({ browser });
    const beats = () => other.evaluate(() => Number(localStorage.beats));
    await looping.evaluate(
      () => void setInterval(() => (localStorage.beats = Number(localStorage.beats ?? 0) + 1), 10),
    );
    await expect.poll(beats).toBeGreaterThan(0);

    stage.site.fault = hang({ times: 1 });
    await stage.track(looping, 5);
    await isSending(stage);
    await looping.evaluate(() => {
      // A message lets `evaluate` answer before the loop, and is quicker than a timer of a hidden tab.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        for (;;);
      };
      port2.postMessage('loop');
    });
    await stage.track(other, 5);
    const beaten = await beats();
    await arrives(stage, 10, PATIENCE);
    expect(await beats(), 'the loop still runs').toBe(beaten);
  },
  { isLong: true },
);

fault(
  33,
  'the sending tab is frozen',
  async (stage) => {
    const frozen = await stage.visit();
    const other = await stage.visit();
    stage.site.fault = hang({ times: 1 });
    await stage.track(frozen, 5);
    await isSending(stage);
    await freeze(stage, frozen);
    await stage.track(other, 5);
    await arrives(stage, 10, PATIENCE);
  },
  { cannot: cannotFreeze, isLong: true },
);

/** The third request is stored, and answered only when the returned function is called. */
const holdThird = (stage: Stage): (() => void) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let count = 0;
  const handler: Handler = async ({ forward, store, response }) => {
    if (++count !== 3) return forward();
    const { status, headers, body } = await store();
    await released;
    response.writeHead(status, headers).end(body);
  };
  stage.site.fault = handler;
  return release;
};

/** One tab is sending the 30 events of another tab in batches of five. The third batch is in flight. */
const sendForAnother = async (stage: Stage) => {
  // By itself, the owner sends nothing once the link is proven.
  const owner = await stage.visit({ query: 'data-flush-interval=3600000' });
  const sender = await stage.visit({ query: 'data-max-batch-events=5' });
  // The sender has finished its first pass, so its next turn reads the owner's rows.
  await sender.evaluate(() => {
    window.clew('track', 'proof');
    return window.clew('flush');
  });
  await owner.evaluate(() => window.clew('flush'));
  const { length } = stage.site.requests;
  const release = holdThird(stage);
  await stage.track(owner, 30);
  await expect.poll(() => stage.stored(owner)).toBe(30);
  await stage.track(sender);
  await isSending(stage, length + 3);
  // The third request reaches the server before the owner learns how the second one ended.
  await expect.poll(() => owner.evaluate(() => window.told.delivered)).toHaveLength(10);
  return { owner, sender, third: length + 2, release };
};

const allTold = async (owner: Tab) => {
  const told = () => owner.evaluate(() => window.told.delivered.toSorted((a, b) => Number(a) - Number(b)));
  await expect.poll(told).toEqual(Array.from({ length: 30 }, (_, n) => n));
};

fault(
  34,
  "the sending tab crashes while it sends another tab's rows",
  async (stage) => {
    const { owner, sender } = await sendForAnother(stage);
    await sender.crash?.();
    await owner.evaluate(() => window.clew('flush'));
    await arrives(stage, 31, PATIENCE);
    await allTold(owner);
  },
  { cannot: cannotCrash, isLong: true },
);

fault(
  34,
  "the sending tab navigates away while it sends another tab's rows",
  async (stage) => {
    const { owner, sender, third } = await sendForAnother(stage);
    await stage.visit({ tab: sender, path: '/page/next' });
    await arrives(stage, 31, AT_ONCE);
    await allTold(owner);
    const handedOver = (await stage.arrived()).find(({ payload }) => (payload as { n: number }).n === 30)?.uuid;
    const unanswered = [...(stage.site.requests[third]?.uuids ?? []), handedOver];
    expect(
      repeats(stage).filter((uuid) => !unanswered.includes(uuid)),
      'only what had no answer',
    ).toEqual([]);
  },
  { shownBy: ['sim/walk/actions.ts'] },
);

fault(
  34,
  'the sending tab freezes and thaws after its lease was taken over',
  async (stage) => {
    const { owner, sender, third, release } = await sendForAnother(stage);
    await owner.activate();
    await freeze(stage, sender);
    await owner.evaluate(() => window.clew('flush'));
    await arrives(stage, 31, PATIENCE);
    await allTold(owner);
    await setState(stage, sender, 'active');
    release();
    await stage.track(sender, 7);
    await stage.track(owner);
    await owner.evaluate(() => window.clew('flush'));
    await arrives(stage, 39, AT_ONCE);
    await expect.poll(() => stage.stored(owner)).toBe(0);
    expect(repeats(stage), 'only what had no answer in time').toEqual(stage.site.requests[third]?.uuids);
  },
  { cannot: cannotFreeze, isLong: true },
);
