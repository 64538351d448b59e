import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { type SecretKey, signIdentity } from '../dist/relay.js';
import { loadPackage } from './support/app.ts';
import { startRelay } from './support/relay.ts';
import { firstOf } from './support/tags.ts';
import { test as base, expect } from './support/test.ts';

const AUDIENCE = 'shop.example';
const [OLD, NEW] = ['old', 'new'].map((id) => ({ id, secret: `${id}: a secret of the servers, 32 bytes or more` })) as [
  SecretKey,
  SecretKey,
];
const ringOf = (key: SecretKey, revoked: string[] = []) => ({
  identityKeys: { audience: AUDIENCE, keys: [key], revoked },
});
const sign = (primaryKey: string, key: SecretKey, expiresIn = 60) =>
  signIdentity({ primaryKey, expiresIn }, ringOf(key).identityKeys);

/** A relay whose key is about to rotate. */
const test = base.extend<{ relay: Awaited<ReturnType<typeof startRelay>> }>({
  relay: async ({ demo }, use) => {
    const relay = await startRelay(demo, ringOf(OLD));
    await use(relay);
    await relay.stop();
  },
});

declare global {
  interface Window {
    newToken(primaryKey: string): Promise<string>;
  }
}

/** Starts clew in a blank page. The tracker asks the app for new tokens. */
const start = {
  async 'an npm app'(page: Page, baseUrl: string) {
    await loadPackage(page);
    await page.evaluate(async (baseUrl) => {
      const file = '/dist/plugins.js';
      const { renewTokens } = await import(file);
      const tracker = window.app.createTracker({
        baseUrl,
        storageName: '/clew',
        flushInterval: 50,
        plugins: [renewTokens((primaryKey: string) => window.newToken(primaryKey))],
      });
      Object.assign(window, { clew: (method: 'flush', ...args: []) => tracker[method](...args) });
    }, baseUrl);
  },
  async 'the script tag'(page: Page, baseUrl: string) {
    await page.setContent(`<!doctype html>
      <script>${await readFile('dist/stub.js', 'utf8')}</script>
      <script type="module">
        import { renewTokens } from '/dist/plugins.js';
        clew('use', renewTokens((primaryKey) => newToken(primaryKey)));
      </script>
      <script defer src="/dist/clew.js" data-base-url="${baseUrl}" data-storage-name="/clew" data-flush-interval="50"></script>`);
  },
};

/** Each person logs in with a token that expires in a second, and does 100 things. Resolves once the tokens have expired. */
const doThings = async (page: Page, persons: readonly string[]) => {
  const people = await Promise.all(persons.map(async (name) => [name, await sign(name, OLD, 1)] as const));
  const expiry = Date.now() + 1000;
  await page.evaluate((all) => {
    for (const [name, signature] of all) {
      window.clew('identify', name, { plan: name }, { signature });
      for (let n = 0; n < 200 / all.length; n++) window.clew('track', 'seen', { of: name });
    }
  }, people);
  await expect.poll(() => Date.now()).toBeGreaterThan(expiry);
};

/** For each customer: the properties, and for how many events of which person they are the customer. */
const served = async (demo: Parameters<typeof startRelay>[0]) => {
  const events = await demo.events('seen');
  return (await demo.customers()).map(({ id, primaryKey, properties }) => {
    const own = events.filter(({ customerId }) => customerId === id);
    return [primaryKey, properties, own.length, [...new Set(own.map(({ payload }) => (payload as { of: string }).of))]];
  });
};

for (const [how, where] of firstOf([
  ['the script tag', 'the next page'],
  ['the script tag', 'the same page'],
  ['an npm app', 'the same page'],
] as const))
  test(`${how}, offline: a token expires and its key is revoked, and on ${where} 200 of 200 reach the right customers`, {
    tag: '@promise',
  }, async ({ demo, visitor, relay, context }) => {
    const { page } = visitor;
    await page.exposeFunction('newToken', (primaryKey: string) => sign(primaryKey, NEW));
    await page.goto(`${demo.address}/blank`);
    await start[how](page, relay.url);
    await context.setOffline(true);
    await doThings(page, ['ann', 'bob']);
    await relay.restart(ringOf(NEW, ['old']));
    if (where === 'the next page') await page.goto('about:blank');
    await context.setOffline(false);
    if (where === 'the next page') {
      await page.goto(`${demo.address}/blank`);
      await start[how](page, relay.url);
    }
    await expect
      .poll(() => served(demo))
      .toEqual([
        ['ann', { plan: 'ann' }, 100, ['ann']],
        ['bob', { plan: 'bob' }, 100, ['bob']],
      ]);
    expect(await demo.events()).toHaveLength(202);
  });

test('without renewTokens, a token expires while offline: 200 of 200 events reach the customer at the next log-in', {
  tag: ['@long', '@promise'],
}, async ({ demo, visitor, relay, context }) => {
  await visitor.visit({ baseUrl: relay.url });
  await context.setOffline(true);
  await doThings(visitor.page, ['ann']);
  await relay.restart(ringOf(NEW, ['old']));
  await context.setOffline(false);
  await expect.poll(async () => (await demo.events('seen')).length).toBe(200);
  expect((await demo.customers()).map(({ primaryKey }) => primaryKey)).toEqual([null]);
  await visitor.visit({ baseUrl: relay.url });
  await visitor.clew('identify', 'ann', undefined, { signature: await sign('ann', NEW) });
  await expect.poll(() => served(demo)).toEqual([['ann', { plan: 'ann' }, 200, ['ann']]]);
});
