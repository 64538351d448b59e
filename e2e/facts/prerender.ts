import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { openBrowser, withProfile } from '../support/ownBrowser.ts';

/** The page before: waits until no driver watches, has the other page prerendered, and navigates once that page runs. */
const FIRST = `<script type="module">
  await fetch('/unwatched');
  const rules = Object.assign(document.createElement('script'), { type: 'speculationrules' });
  rules.textContent = JSON.stringify({ prerender: [{ source: 'list', urls: ['/second'], eagerness: 'immediate' }] });
  document.head.append(rules);
  await fetch('/running');
  location.href = '/second';
</script>`;

const secondOf = (fn: () => Promise<unknown>) => `<script type="module">
  const outcome = (${fn})();
  fetch('/runs');
  fetch('/outcome', { method: 'POST', body: JSON.stringify(await outcome) });
</script>`;

/**
 * Runs `fn` in a page that Chromium prerenders, then navigates to that page. This needs a browser of its own, because a page that a
 * driver watches prerenders nothing. Resolves to the value that `fn` resolves to.
 */
export const prerender = async (fn: () => Promise<unknown>): Promise<unknown> => {
  const signals = new EventEmitter();
  const [unwatched, runs, outcome] = ['unwatched', 'runs', 'outcome'].map((signal) => once(signals, signal));
  const html = (response: ServerResponse, page: string) =>
    void response.setHeader('Content-Type', 'text/html').end(`<!doctype html>${page}`);
  const server = createServer(async (request, response) => {
    const { url } = request;
    if (url === '/first') return html(response, FIRST);
    if (url === '/second') return html(response, secondOf(fn));
    if (url === '/unwatched') await unwatched;
    if (url === '/running') await runs;
    if (url === '/runs') signals.emit('runs');
    if (url === '/outcome') signals.emit('outcome', JSON.parse(await text(request)));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await withProfile(async (profile) => {
      const browser = await openBrowser(profile);
      try {
        const page = await browser.newPage();
        await page.goto(`http://127.0.0.1:${port}/first`);
        // This only disconnects the driver.
        await browser.context.browser()?.close();
        signals.emit('unwatched');
        return (await outcome)?.[0];
      } finally {
        await browser.kill();
      }
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
};
