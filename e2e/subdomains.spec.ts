import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { BrowserContext } from '@playwright/test';
import { createRelay, toNodeHandler } from '../dist/relay.js';
import type { Demo } from './support/demo.ts';
import { visitBlank } from './support/tag.ts';
import { test as base, expect } from './support/test.ts';

const SHARED = { cookieDomain: 'auto', flushInterval: '50' };

const test = base.extend<{ visit: (host: string, options?: object, port?: string) => ReturnType<typeof openOn> }>({
  visit: async ({ demo, context }, use) => {
    await use((host, options = {}, port = new URL(demo.address).port) => openOn(context, `${host}:${port}`, options));
  },
});

const openOn = async (context: BrowserContext, host: string, options: object) => {
  const page = await context.newPage();
  const told: string[] = [];
  page.on('console', (message) => told.push(message.text()));
  await visitBlank(page, `http://${host}`, { ...SHARED, ...options });
  return {
    page,
    told,
    clew: (method: string, ...args: unknown[]) =>
      page.evaluate(([name, ...rest]) => window.clew(name, ...rest), [method, ...args] as [string, ...unknown[]]),
    visitorId: () => page.evaluate(() => window.clew('correlationValue') as Promise<string>),
    cookie: () => page.evaluate(() => document.cookie),
  };
};

/** A site with its relay on the same origin, as most sites have it. The demo answers all other requests. */
const startSite = async (demo: Demo, domain: string) => {
  const visitorCookie = { domain, secure: false };
  const relay = toNodeHandler(
    createRelay({ baseUrl: demo.address, apiKey: 'demo-key', allowUnsignedIdentify: true, visitorCookie }),
  );
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/clew/')) return relay(request, response);
    const answer = await fetch(demo.address + request.url);
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('Content-Type') ?? 'text/plain' });
    response.end(answer.body && (await buffer(answer.body)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: `${(server.address() as AddressInfo).port}` };
};

test('two hosts share one visitor id with the option, and have two without it', { tag: '@promise' }, async ({
  demo,
  visit,
}) => {
  const www = await visit('www.shop.example');
  await www.clew('track', 'here');
  const app = await visit('app.shop.example');
  await app.clew('track', 'there');
  expect(await app.visitorId()).toBe(await www.visitorId());
  await expect.poll(async () => [...(await demo.events('here')), ...(await demo.events('there'))]).toHaveLength(2);
  const visitorIds = new Set((await demo.events()).map(({ correlationValue }) => correlationValue));
  expect([...visitorIds]).toEqual([await www.visitorId()]);
  const alone = await visit('alone.shop.example', { cookieDomain: 'alone.shop.example' });
  expect(await alone.visitorId()).toBe(await www.visitorId());
  const other = await visit('other.shop.example', { cookieDomain: 'other.shop.example' });
  expect(await other.cookie()).toContain(await other.visitorId());
});

test('a customer identified on one host is not identified again on the other, or merged', {
  tag: '@promise',
}, async ({ demo, visit }) => {
  const www = await visit('www.shop.example');
  await www.clew('identify', 'ann@example.com');
  const ann = await www.visitorId();
  const app = await visit('app.shop.example');
  await app.clew('identify', 'ann@example.com');
  expect(await app.visitorId()).toBe(ann);
  await app.clew('identify', 'bob@example.com');
  const bob = await app.visitorId();
  expect(bob).not.toBe(ann);
  await app.clew('track', 'by bob');
  await expect.poll(() => demo.events('by bob')).toHaveLength(1);
  const identified = (await demo.events('$identify')).map(({ correlationValue, payload }) => [
    correlationValue,
    (payload as { distinct_id: string }).distinct_id,
  ]);
  expect(identified).toEqual([
    [ann, 'ann@example.com'],
    [bob, 'bob@example.com'],
  ]);
  const again = await visit('www.shop.example');
  expect(await again.visitorId()).toBe(bob);
  await again.clew('identify', 'ann@example.com');
  expect(await again.visitorId()).not.toBe(bob);
  expect(await again.cookie()).not.toContain('example.com');
});

test('a page shown again uses the visitor id that another host has started', {
  tag: ['@long', '@promise'],
}, async ({ context, visit }) => {
  const www = await visit('www.shop.example');
  const before = await www.visitorId();
  const app = await visit('app.shop.example');
  await app.clew('identify', 'ann@example.com');
  await app.clew('reset');
  const after = await app.visitorId();
  // The event `online` has the effect of a return to the tab, which learns of the change.
  await context.setOffline(true);
  await context.setOffline(false);
  await expect.poll(() => www.visitorId()).toBe(after);
  expect(after).not.toBe(before);
});

test('the visitor id survives when the site clears its database', { tag: ['@long', '@promise'] }, async ({ visit }) => {
  const first = await visit('www.shop.example');
  const visitorId = await first.visitorId();
  const session = await first.page.context().newCDPSession(first.page);
  const { origin } = new URL(first.page.url());
  await first.page.goto('about:blank');
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb,local_storage' });
  expect(await (await visit('www.shop.example')).visitorId()).toBe(visitorId);
});

test('there is no cookie before consent and none after a refusal', { tag: '@promise' }, async ({ visit }) => {
  const www = await visit('www.shop.example', { consent: 'required' });
  await www.clew('track', 'held');
  expect(await www.cookie()).toBe('');
  await www.clew('consent', true);
  const visitorId = await www.visitorId();
  expect(await www.cookie()).toContain(visitorId);
  const app = await visit('app.shop.example');
  expect(await app.visitorId()).toBe(visitorId);
  // A late answer to the other host would renew the cookie there.
  await www.clew('flush');
  await app.clew('consent', false);
  expect(await app.cookie()).toBe('');
});

test('a domain that is not the page’s is reported once, and no event is lost', { tag: ['@long', '@promise'] }, async ({
  demo,
  visit,
}) => {
  const www = await visit('www.shop.example', { cookieDomain: 'elsewhere.example', debug: 'true' });
  await www.clew('track', 'all the same');
  await www.clew('reset');
  await www.clew('track', 'and again');
  await expect.poll(() => demo.events()).toHaveLength(2);
  expect(www.told.filter((text) => text.includes('cookieDomain'))).toHaveLength(1);
});

test('the relay renews the cookie, and its late answers restore no earlier visitor', {
  tag: ['@long', '@promise'],
}, async ({ demo, visit }) => {
  const site = await startSite(demo, 'shop.example');
  const www = await visit('www.shop.example', {}, site.port);
  const visitorId = await www.visitorId();
  // Safari shortens the life of a cookie that a script writes.
  await www.page.evaluate((value) => {
    // biome-ignore lint/suspicious/noDocumentCookie: as the tracker writes it
    document.cookie = `clew=${value}.0.; Path=/; Max-Age=600; Domain=shop.example`;
  }, visitorId);
  await www.clew('trackNow', 'here');
  const days = async () => {
    const cookies = await www.page.context().cookies();
    return cookies.map(({ name, expires }) => [name, Math.round((expires - Date.now() / 1000) / 86_400)]);
  };
  await expect.poll(days).toContainEqual(['clew.server', 400]);

  await demo.fault({ mode: 'slow', delay: 500, count: 1 });
  const asked = www.page.waitForRequest(/\/clew\//);
  await www.clew('track', 'slow');
  await asked;
  const server = async () =>
    (await www.page.context().cookies()).find(({ name }) => name === 'clew.server')?.value.slice(0, 36);
  await www.page.context().clearCookies({ name: 'clew.server' });
  await www.clew('reset');
  const next = await www.visitorId();
  await www.page.goto('about:blank');
  // A page that has left cannot correct the cookie of a late answer.
  await expect.poll(server).toBe(visitorId);
  expect(await (await visit('app.shop.example', {}, site.port)).visitorId()).toBe(next);
  expect(next).not.toBe(visitorId);
  site.server.close();
  site.server.closeAllConnections();
});

test('a refusal erases the cookie of a late answer, or the refusal on the next page does', {
  tag: '@promise',
}, async ({ demo, visit }) => {
  const site = await startSite(demo, 'shop.example');
  const { page, clew } = await visit('www.shop.example', {}, site.port);
  const names = async () => (await page.context().cookies()).map(({ name }) => name).sort();
  /** Sends a request whose late answer sets the cookie, and refuses consent meanwhile. Resolves once the answer is sent. */
  const refuseInFlight = async (next?: string) => {
    await clew('trackNow', 'quick');
    await expect.poll(names).toEqual(['clew', 'clew.server']);
    await demo.fault({ mode: 'slow', delay: 500, count: 1 });
    const asked = page.waitForRequest(/\/clew\//);
    const answered = new Promise((resolve) => {
      site.server.once('request', (_request, response) => response.once('finish', resolve));
    });
    await clew('track', 'slow');
    const request = await asked;
    await page.evaluate((url) => {
      window.clew('consent', false);
      if (url) location.href = url;
    }, next);
    await answered;
    return request;
  };

  const request = await refuseInFlight();
  await (await request.response())?.finished();
  await expect.poll(names).toEqual([]);

  await clew('consent', true);
  await refuseInFlight('about:blank');
  // The browser finishes a keep-alive request even if its page aborts it.
  await expect.poll(names).toEqual(['clew.server']);
  await (await visit('www.shop.example', { consent: 'required' }, site.port)).clew('consent', false);
  await expect.poll(names).toEqual([]);
  site.server.close();
  site.server.closeAllConnections();
});
