import type { Tab } from './engines/engine.ts';
import { expect, fault } from './support/fault.ts';
import { before } from './support/page.ts';
import type { Stage } from './support/stage.ts';

/**
 * A service worker that answers the page's requests to the API with `answer`, and counts them. Once a cache `mended` exists, it
 * forwards them. A browser can end and restart a service worker at any time, so it keeps nothing else.
 */
const worker = (answer: string) => `
  let count = 0;
  addEventListener('install', () => skipWaiting());
  addEventListener('activate', (event) => event.waitUntil(clients.claim()));
  addEventListener('fetch', (event) => {
    const { pathname } = new URL(event.request.url);
    if (pathname === '/count') event.respondWith(new Response(String(count)));
    if (!pathname.startsWith('/clew/')) return;
    count++;
    event.respondWith(caches.has('mended').then((isMended) => (isMended ? fetch(event.request) : ${answer})));
  });`;

const install = async (stage: Stage, answer: string): Promise<Tab> => {
  stage.site.files.set('/worker.js', { type: 'text/javascript', body: worker(answer) });
  const tab = await stage.visit({ query: 'tag=none', wait: 'load' });
  await tab.evaluate(async () => {
    await navigator.serviceWorker.register('/worker.js');
    while (!navigator.serviceWorker.controller) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  return tab;
};
const count = (tab: Tab) => tab.evaluate(async () => Number(await (await fetch('/count')).text()));

/** In Firefox, keep-alive requests bypass service workers. */
const keepNothingAlive = () => {
  const { fetch } = window;
  window.fetch = (input, init) => fetch(input, { ...init, keepalive: false });
};

const answers: Record<string, string> = {
  'answers 200': "new Response('<title>Offline</title>', { headers: { 'Content-Type': 'text/html' } })",
  'answers 503': "new Response('', { status: 503 })",
  fails: 'Response.error()',
  hangs: 'new Promise(() => {})',
};

for (const [title, answer] of Object.entries(answers)) {
  fault(
    57,
    `a service worker ${title}`,
    async (stage) => {
      const query = stage.engine === 'firefox' ? before(keepNothingAlive) : '';
      const tab = await install(stage, answer);
      await stage.visit({ tab, query });
      await stage.track(tab, 5);
      await expect.poll(() => count(tab)).toBeGreaterThan(0);
      expect(stage.site.requests).toEqual([]);
      await stage.track(tab, 5);
      await tab.goto(`${stage.site.origin}/page/2?${query}`);
      await stage.track(tab, 5);
      await tab.evaluate(() => void window.clew('flush'));
      await expect.poll(() => count(tab)).toBeGreaterThan(1);
      await tab.goto(`${stage.site.origin}/page/3?tag=none`);
      await tab.evaluate(() => caches.open('mended').then(() => {}));
    },
    // In Node, test/courier/transport.test.ts shows how the tracker takes the other answers.
    { isLong: title !== 'answers 200' },
  );
}
