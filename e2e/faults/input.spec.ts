import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { DROPPED, type Inputs, inputs } from './support/inputs.ts';
import { oddities } from './support/oddities.ts';
import { afterStub } from './support/page.ts';
import type { Stage } from './support/stage.ts';

declare global {
  interface Window {
    /** Whether the bundle was loaded when the payloads were tracked. */
    hadTracker: boolean;
  }
}

/** Runs in the page: tracks each payload of a table between two events of the ledger. */
const trackBetween = ({ run, from }: { run: string; from: number }, table: [label: string, make: () => unknown][]) => {
  window.hadTracker = !('q' in window.clew);
  let n = from;
  for (const [label, make] of table) {
    window.clew('track', 'ledger', { run, n: n++ });
    window.clew('track', `input: ${label}`, make());
    window.clew('track', 'ledger', { run, n: n++ });
  }
};

/** Serves a script of the site that tracks the payloads, because an error in it counts as a problem of the page. */
const serve = (stage: Stage, table: Inputs) => {
  const entries = Object.entries(table);
  const numbers = JSON.stringify(stage.next(entries.length * 2));
  const makes = entries.map(([label, [make]]) => `[${JSON.stringify(label)}, ${make}]`);
  const body = `(${trackBetween})(${numbers}, [${makes.join(',\n')}]);`;
  stage.site.files.set('/inputs.js', { type: 'text/javascript', body });
};
const load = () => {
  const script = document.createElement('script');
  script.src = '/inputs.js';
  document.head.append(script);
};

const checkAll = async (stage: Stage, tab: Tab, table: Inputs) => {
  const entries = Object.entries(table);
  await expect.poll(async () => (await stage.arrived()).length).toBe(entries.length * 2);
  const events = await stage.demo.events();
  const found = entries.map(([label]) => {
    const [event, ...more] = events.filter((one) => one.event === `input: ${label}`);
    expect(more, label).toEqual([]);
    return [label, event ? event.payload : DROPPED];
  });
  expect(found).toEqual(entries.map(([label, [, arrives]]) => [label, arrives]));
  const dropped = entries.filter(([, [, arrives]]) => arrives === DROPPED);
  const told = await tab.evaluate(() => window.told);
  expect(told.dropped.map(([, reason]) => reason)).toEqual(dropped.map(() => 'unserialisable'));
  expect(told.errors).toHaveLength(dropped.length);
};

fault(46, 'payloads of every kind: JSON values arrive, the rest is dropped and reported', async (stage) => {
  serve(stage, inputs);
  const tab = await stage.visit();
  await tab.evaluate(load);
  await checkAll(stage, tab, inputs);
});

fault(
  46,
  'payloads of every kind before the bundle loads',
  async (stage) => {
    serve(stage, inputs);
    const tab = await stage.visit({ query: `delay=1000&${afterStub(load)}` });
    await checkAll(stage, tab, inputs);
    expect(await tab.evaluate(() => window.hadTracker)).toBe(false);
  },
  { isLong: true },
);

fault(47, 'unusual text, unusual keys, and payloads that are not objects', async (stage) => {
  serve(stage, oddities);
  const tab = await stage.visit();
  await tab.evaluate(load);
  await checkAll(stage, tab, oddities);
});

fault(
  47,
  'emoji at the byte limit',
  async (stage) => {
    const tab = await stage.visit();
    const { run, from } = stage.next(2);
    await tab.evaluate(
      ({ run, from }) => {
        const wire = (payload: object) =>
          JSON.stringify({
            uuid: crypto.randomUUID(),
            timestamp: new Date().toISOString(),
            event: 'ledger',
            source: 'custom',
            correlationKey: '_id',
            payload,
            correlationValue: crypto.randomUUID(),
            // The number of a page load always has 15 digits.
            seq: [2 ** 48, 1],
          });
        for (const [n, excess] of [0, 1].entries()) {
          const empty = { run, n: from + n, text: '' };
          // A batch's own braces count, too.
          const room = 60_000 - '{"batch":[]}'.length - new TextEncoder().encode(wire(empty)).length;
          const text = '🧶'.repeat(room >> 2) + 'x'.repeat((room % 4) + excess);
          window.clew('track', 'ledger', { ...empty, text });
        }
      },
      { run, from },
    );
    stage.drop([from + 1], 'too-large');
    await expect.poll(async () => (await stage.arrived()).length).toBe(1);
    expect(await tab.evaluate(() => window.told.dropped)).toEqual([[from + 1, 'too-large']]);
    expect(Math.max(...stage.site.requests.map(({ bytes }) => bytes))).toBe(60_000);
  },
  { shownBy: ['test/courier/cut.test.ts', 'test/tracker/limits.test.ts'] },
);

fault(47, 'payload nested 20,000 levels deep', async (stage) => {
  const tab = await stage.visit();
  await stage.track(tab, 5);
  const reason = await tab.evaluate(() => {
    let deep: unknown[] = [];
    for (let level = 1; level < 20_000; level++) deep = [deep];
    window.clew('track', 'deep', deep);
    try {
      return JSON.stringify(deep) && 'rejected';
    } catch {
      // Each engine has its own limit for the depth of JSON.
      return 'unserialisable';
    }
  });
  await stage.track(tab, 5);
  await expect.poll(() => tab.evaluate(() => window.told.dropped.map(([, reason]) => reason))).toEqual([reason]);
  await expect.poll(async () => (await stage.arrived()).length).toBe(10);
  expect(await stage.demo.events('deep')).toEqual([]);
});

fault(48, 'names: empty, 1 MB, not a string, reserved, named like prototype members', async (stage) => {
  const tab = await stage.visit();
  await stage.track(tab, 5);
  await tab.evaluate(() => {
    const names = ['', 'x'.repeat(2 ** 20), '$identify', 5, Number.NaN, null, undefined, true, {}, [], ['a'], 1n];
    const odd = [Symbol('s'), () => 'name', Object.create(null), Object('boxed'), new Proxy({}, {})];
    for (const name of [...names, ...odd, '__proto__', 'constructor', ' ', '\0', '\ud800', '🧶'])
      window.clew('track', name, { distinct_id: 'nobody' });
  });
  await stage.track(tab, 5);
  await expect.poll(async () => (await stage.arrived()).length).toBe(10);
  const told = await tab.evaluate(() => window.told);
  expect(told.dropped.map(([, reason]) => reason).filter((reason) => reason !== 'rejected')).toEqual(['too-large']);
  expect(told.dropped).toHaveLength(17);
  expect(told.errors).toHaveLength(16);
  const names = (await stage.demo.events()).map(({ event }) => event).filter((event) => event !== 'ledger');
  expect(names).toEqual(['__proto__', 'constructor', ' ', '\ufffd', '\ufffd', '🧶']);
});
