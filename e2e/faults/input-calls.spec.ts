import { expect, fault } from './support/fault.ts';
import { afterStub } from './support/page.ts';

/** Changes a payload after the call of `track`. */
const changeAfterwards = ({ run, from }: { run: string; from: number }) => {
  const payload = { run, n: from, nested: { list: [1, 2] }, kept: 'as it was' } as Record<string, unknown>;
  window.clew('track', 'ledger', payload);
  payload.n = 'changed';
  payload.kept = undefined;
  (payload.nested as { list: unknown[] }).list.push(payload);
  Object.freeze(payload);
};
const asItWas = { nested: { list: [1, 2] }, kept: 'as it was' };

fault(49, 'payload changed after the call', async (stage) => {
  const tab = await stage.visit();
  const { run, from } = stage.next(1);
  await tab.evaluate(changeAfterwards, { run, from });
  await expect.poll(async () => (await stage.arrived())[0]?.payload).toEqual({ run, n: from, ...asItWas });
});

fault(49, 'payload changed after the call and before the bundle loads', async (stage) => {
  const { run, from } = stage.next(1);
  await stage.visit({ query: `delay=300&${afterStub(changeAfterwards, { run, from })}` });
  await expect.poll(async () => (await stage.arrived())[0]?.payload).toEqual({ run, n: from, ...asItWas });
});

fault(
  52,
  'track before creation, by the stub, with a bundle that loads late',
  async (stage) => {
    const query = afterStub(({ run, from }) => {
      for (let n = from; n < from + 20; n++) window.clew('track', 'ledger', { run, n });
    }, stage.next(20));
    await stage.visit({ query: `delay=1000&${query}` });
    await expect.poll(async () => (await stage.arrived()).length).toBe(20);
  },
  { shownBy: ['e2e/snippet.spec.ts'] },
);

fault(
  52,
  'track before creation, one payload not JSON, and the page is left before the tracker exists',
  async (stage) => {
    // The bundle has no code. The page finishes loading, because some browsers fire no `pagehide` before that.
    stage.site.files.set('/dist/clew.js', { type: 'text/javascript', body: '' });
    const tab = await stage.visit({ wait: 'load' });
    stage.site.files.delete('/dist/clew.js');
    await tab
      .evaluate(({ run, from }) => {
        const cycle: { self?: unknown } = {};
        cycle.self = cycle;
        for (let n = from; n < from + 20; n++) {
          window.clew('track', 'ledger', { run, n });
          window.clew('track', 'beyond JSON', n % 2 ? cycle : 1n);
        }
        location.href = '/page/2';
      }, stage.next(20))
      .catch(() => {});
    await stage.reached(tab, '/page/2');
    await expect.poll(async () => (await stage.arrived()).length).toBe(20);
  },
  { isLong: true },
);

fault(
  52,
  'track after reset',
  async (stage) => {
    const tab = await stage.visit();
    const before = await tab.evaluate(() => window.clew('correlationValue'));
    const { run, from } = stage.next(2);
    await tab.evaluate(
      ({ run, from }) => {
        window.clew('track', 'ledger', { run, n: from });
        window.clew('reset');
        window.clew('track', 'ledger', { run, n: from + 1 });
      },
      { run, from },
    );
    const after = await tab.evaluate(() => window.clew('correlationValue'));
    expect(after).not.toBe(before);
    stage.assign([from], String(before));
    stage.assign([from + 1], String(after));
    await expect.poll(async () => (await stage.arrived()).length).toBe(2);
  },
  { isLong: true, isPromise: true },
);

fault(
  52,
  'track after refusal of consent',
  async (stage) => {
    const tab = await stage.visit();
    await stage.track(tab, 5);
    // The events have to be confirmed, because the refusal drops all unconfirmed events.
    await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(5);
    const { run, from } = stage.next(10);
    await tab.evaluate(
      ({ run, from }) => {
        for (let n = from; n < from + 5; n++) window.clew('track', 'ledger', { run, n });
        window.clew('consent', false);
        for (let n = from + 5; n < from + 10; n++) window.clew('track', 'ledger', { run, n });
      },
      { run, from },
    );
    const refused = Array.from({ length: 10 }, (_, index) => from + index);
    stage.drop(refused, 'consent');
    expect(await tab.evaluate(() => window.told.dropped)).toEqual(refused.map((n) => [n, 'consent']));
    await tab.evaluate(() => window.clew('consent', true));
    await stage.track(tab, 5);
    await expect.poll(async () => (await stage.arrived()).length).toBe(10);
  },
  { isLong: true },
);

fault(
  52,
  'track inside a listener that throws',
  async (stage) => {
    stage.expectProblems(/a listener of the page/);
    const tab = await stage.visit();
    const { run, from } = stage.next(3);
    await tab.evaluate(
      ({ run, from }) => {
        let n = from + 1;
        const answerAndThrow = () => {
          if (n < from + 3) window.clew('track', 'ledger', { run, n: n++ });
          throw new Error('a listener of the page');
        };
        window.clew('on', 'dropped', answerAndThrow);
        window.clew('on', 'delivered', answerAndThrow);
        window.clew('track', 'ledger', { run, n: from });
        window.clew('track', 'beyond JSON', 1n);
      },
      { run, from },
    );
    await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(3);
    expect(await tab.evaluate(() => window.problems.length)).toBeGreaterThan(1);
  },
  { isLong: true },
);
