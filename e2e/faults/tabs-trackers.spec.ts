import { join } from 'node:path';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
import type { Tracker } from '../../dist/index.js';
import { expect, fault } from './support/fault.ts';
import { needlessRepeats } from './support/repeats.ts';
import type { Stage } from './support/stage.ts';

declare global {
  interface Window {
    trackers?: Tracker[];
  }
}

const hasArrived = (stage: Stage, count: number) => expect.poll(async () => (await stage.arrived()).length).toBe(count);
const hasNoRepeats = (stage: Stage) => expect(needlessRepeats(stage)).toEqual([]);

fault(
  37,
  'two script tags',
  async (stage) => {
    const tab = await stage.visit();
    await stage.track(tab, 3);
    const numbers = stage.next(6);
    await tab.evaluate(async ({ run, from, count }) => {
      const first = window.clew;
      const tag = document.querySelector('script[src]')?.cloneNode() as HTMLScriptElement;
      const again = Object.assign(document.createElement('script'), { src: `${tag.src}?again` });
      Object.assign(again.dataset, tag.dataset);
      const loaded = new Promise((resolve, reject) => Object.assign(again, { onload: resolve, onerror: reject }));
      document.head.append(again);
      for (let n = from; n < from + count; n++) {
        window.clew('track', 'ledger', { run, n });
        if (n === from + 2) await loaded;
      }
      if (window.clew !== first) throw new Error('a second tracker has come');
    }, numbers);
    await hasArrived(stage, 9);
    hasNoRepeats(stage);
  },
  { shownBy: ['e2e/snippet.spec.ts', 'e2e/loaders.spec.ts'] },
);

fault(
  37,
  'two script tags from the start of the page',
  async (stage) => {
    const { site } = stage;
    const tag = '<script async src="/dist/clew.js" data-base-url="/clew" data-flush-interval="200"></script>';
    site.files.set('/two-tags', {
      type: 'text/html',
      body: `<!doctype html><html lang="en"><title>Two</title>${tag}${tag}</html>`,
    });
    const tab = await stage.visit({ path: '/two-tags' });
    expect(await tab.evaluate(() => document.scripts.length)).toBe(2);
    await stage.track(tab, 9);
    await hasArrived(stage, 9);
    hasNoRepeats(stage);
  },
  { shownBy: ['e2e/loaders.spec.ts'] },
);

/** Bundles the npm package, as a site's own build does. */
const bundle = async (): Promise<string> => {
  const build = await rollup({
    input: join(import.meta.dirname, '../../dist/index.js'),
    plugins: [nodeResolve({ browser: true })],
  });
  const { output } = await build.generate({ format: 'es' });
  return output[0].code;
};

const RELAY = '/clew/api/events/batch/';
const SERVICE = '/api/events/batch/';

/** A page with one tracker for a relay and one for another service. */
const visitTwo = async (stage: Stage) => {
  const { site } = stage;
  site.files.set('/bundle.js', { type: 'text/javascript', body: await bundle() });
  site.files.set('/site.js', {
    type: 'text/javascript',
    body: `import { createTracker } from '/bundle.js';
      window.trackers = [{ baseUrl: '/clew' }, { baseUrl: location.origin, apiKey: 'demo-key' }].map((service) =>
        createTracker({ ...service, flushInterval: 200 }));`,
  });
  const tab = await stage.visit({ query: 'tag=none', wait: 'load' });
  await tab.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const script = Object.assign(document.createElement('script'), { type: 'module', src: '/site.js' });
        Object.assign(script, { onload: resolve, onerror: reject });
        document.head.append(script);
      }),
  );
  return tab;
};

fault(37, 'two trackers with different services on one page', async (stage) => {
  const tab = await visitTwo(stage);
  const numbers = stage.next(40);
  const visitorIds = await tab.evaluate(({ run, from, count }) => {
    for (let n = from; n < from + count; n++) window.trackers?.[n % 2]?.track('ledger', { run, n });
    return Promise.all(window.trackers?.map((tracker) => tracker.correlationValue()) ?? []);
  }, numbers);
  expect(new Set(visitorIds).size).toBe(1);
  await hasArrived(stage, 40);
  hasNoRepeats(stage);

  const arrived = await stage.arrived();
  const wentBy = (path: string) => {
    const uuids = stage.site.requests.filter((request) => request.path === path).flatMap((request) => request.uuids);
    const own = arrived.filter(({ uuid }) => uuids.includes(uuid ?? ''));
    return own.map(({ payload }) => (payload as { n: number }).n);
  };
  const all = Array.from({ length: 40 }, (_, n) => n);
  expect(wentBy(RELAY)).toEqual(all.filter((n) => n % 2 === 0));
  expect(wentBy(SERVICE)).toEqual(all.filter((n) => n % 2));
});
