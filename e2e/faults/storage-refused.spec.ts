import type { Tab } from './engines/engine.ts';
import type { Handler } from './support/exchange.ts';
import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { trackAndLeave } from './support/leave.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

/** Tries localStorage, cookies and IndexedDB in the page. */
const tryStorage = (): Promise<string[]> => {
  const attempts = [
    () => void localStorage.length,
    () => {
      // biome-ignore lint/suspicious/noDocumentCookie: whether it throws is the question
      document.cookie = 'probe=1';
      if (!document.cookie.includes('probe')) throw new Error('no cookie');
    },
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open('probe');
        request.onsuccess = () => resolve();
        request.onerror = reject;
      }),
  ];
  return Promise.all(
    attempts
      .map(async (attempt) => attempt())
      .map((tried) =>
        tried.then(
          () => 'ok',
          () => 'refused',
        ),
      ),
  );
};

const trackAndStay = async (stage: Stage, tab: Tab) => {
  await stage.track(tab, 20);
  await expect.poll(() => tab.evaluate(() => window.told.delivered.length)).toBe(20);
  expect(await tab.evaluate(() => window.told.errors)).toEqual([expect.stringContaining('no storage')]);
};

fault(
  44,
  'localStorage, cookies and IndexedDB that throw',
  async (stage) => {
    const refuse = () => {
      const get = () => {
        throw new DOMException('refused', 'SecurityError');
      };
      for (const name of ['localStorage', 'sessionStorage', 'indexedDB']) Object.defineProperty(window, name, { get });
      Object.defineProperty(document, 'cookie', { get, set: get });
    };
    const tab = await stage.visit({ query: before(refuse) });
    expect(await tab.evaluate(tryStorage)).toEqual(['refused', 'refused', 'refused']);
    await trackAndStay(stage, tab);
    await trackAndLeave(stage, tab);
  },
  { shownBy: ['e2e/storage.spec.ts'] },
);

fault(
  44,
  "storage blocked for all sites in the browser's settings",
  async (stage) => {
    const tab = await stage.visit({ browser: await stage.openOwn('blocked') });
    expect(await tab.evaluate(tryStorage)).toEqual(['refused', 'refused', 'refused']);
    await trackAndStay(stage, tab);
    await trackAndLeave(stage, tab);
    await expect.poll(async () => (await stage.arrived()).length).toBe(25);
    // The blocked browser has no store that could be empty in the end, so another browser settles.
    await stage.settle(stage.browser);
  },
  { cannot: { webkit: 'WebKitGTK has no such setting' }, shownBy: ['e2e/storage.spec.ts'] },
);

fault(
  44,
  'private window',
  async (stage) => {
    stage.site.fault = answer(503);
    const tab = await stage.visit({ browser: await stage.openOwn('private') });
    expect(await tab.evaluate(tryStorage)).toEqual(['ok', 'ok', 'ok']);
    await stage.track(tab, 10);
    await expect.poll(() => stage.stored(tab)).toBe(10);
    await trackAndLeave(stage, tab);
    await stage.track(tab, 10);
  },
  { isLong: true },
);

declare global {
  interface Window {
    heard: unknown[];
  }
}

/** Runs in a frame. The parent's messages make it track, or leave for another page. */
const obey = () => {
  addEventListener('message', ({ data: { run, from, count, next } }) => {
    for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
    if (next) location.href = next;
  });
};

/** Opens a frame with clew in `top`, and makes it track twice. The second time, it leaves with unsent events. */
const playFrame = async (stage: Stage, top: Tab, sandbox?: string) => {
  const tell = (message: object) =>
    top.evaluate((told) => document.querySelector('iframe')?.contentWindow?.postMessage(told, '*'), message);
  await top.evaluate(
    ({ src, sandbox }) => {
      const frame = document.createElement('iframe');
      if (sandbox) frame.setAttribute('sandbox', sandbox);
      frame.src = src;
      document.body.append(frame);
      return new Promise((resolve) => frame.addEventListener('load', () => resolve(null)));
    },
    { src: `${stage.site.origin}/page/frame?${before(obey)}`, sandbox },
  );
  expect(await top.evaluate(() => document.querySelector('iframe')?.contentDocument)).toBeNull();
  await tell(stage.next(10));
  await expect.poll(async () => (await stage.arrived()).length).toBe(10);
  await tell({ ...stage.next(5), next: '/page/gone?tag=none' });
  await expect.poll(async () => (await stage.arrived()).length).toBe(15);
};

/** Answers as a relay that serves other origins. */
const allowAnyOrigin: Handler = async ({ request, response, store }) => {
  const headers = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Headers': 'content-type, content-encoding',
    'Access-Control-Expose-Headers': 'clew-relay',
  };
  if (request.method === 'OPTIONS') return void response.writeHead(204, headers).end();
  const stored = await store();
  response.writeHead(stored.status, { ...stored.headers, ...headers }).end(stored.body);
};

fault(44, 'sandboxed frame', async (stage) => {
  stage.site.fault = allowAnyOrigin;
  const top = await stage.visit({ query: 'tag=none', wait: 'load' });
  await playFrame(stage, top, 'allow-scripts');
  expect(stage.site.requests.some(({ method }) => method === 'OPTIONS')).toBe(true);
});

fault(44, 'cross-site frame', async (stage) => {
  const top = await stage.browser.newTab();
  await top.goto(`${stage.site.origin.replace('localhost', '127.0.0.1')}/page/1?tag=none`);
  await playFrame(stage, top);
});
