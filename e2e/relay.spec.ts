import { type RelayReport, signPrimaryKey } from '../dist/relay.js';
import { goBack } from './support/goBack.ts';
import { startRelay } from './support/relay.ts';
import { firstOf } from './support/tags.ts';
import { test as base, bodyOf, expect, numbers, upTo } from './support/test.ts';

const SECRET = 'a secret of the servers, 32 bytes or more';

const test = base.extend<{ newRelay: (options?: Parameters<typeof startRelay>[1]) => ReturnType<typeof startRelay> }>({
  newRelay: async ({ demo }, use) => {
    const started: Awaited<ReturnType<typeof startRelay>>[] = [];
    await use(async (options) => {
      const relay = await startRelay(demo, options);
      started.push(relay);
      return relay;
    });
    for (const relay of started) await relay.stop();
  },
});

test('no request of the page carries a key', async ({ demo, context, visitor }) => {
  const session = await context.newCDPSession(visitor.page);
  const log: string[] = [];
  await session.send('Network.enable');
  // The browser's own log also has headers as they were sent, beacons and preflights, which no page sees.
  session.on('Network.requestWillBeSent', (event) => log.push(JSON.stringify(event)));
  session.on('Network.requestWillBeSentExtraInfo', (event) => log.push(JSON.stringify(event)));
  await visitor.visit();
  await visitor.clew('identify', 'ann@example.com', { plan: 'pro' });
  await visitor.clew('trackNow', 'urgent');
  await visitor.trackAndLeave('left', 20, 'navigate');
  await expect.poll(async () => numbers(await demo.events('left'))).toEqual(upTo(20));
  expect(log.filter((entry) => entry.includes('/clew/')).length).toBeGreaterThan(2);
  expect(log.filter((entry) => /demo-key|api-key|authorization/i.test(entry))).toEqual([]);
});

test('sends ordinary requests as gzip and hands over uncompressed', { tag: '@promise' }, async ({ demo, visitor }) => {
  await visitor.visit();
  const [request] = await Promise.all([
    visitor.page.waitForRequest((sent) => sent.url().endsWith('/batch/')),
    visitor.trackAndLeave('small', 200, 'stay'),
  ]);
  expect(await request.headerValue('content-encoding')).toBe('gzip');
  expect((request.postDataBuffer()?.length ?? 0) * 5).toBeLessThan(bodyOf(request).length);
  await expect.poll(async () => numbers(await demo.events('small'))).toEqual(upTo(200));
  await visitor.visit({ compress: 'false' });
  const [plain] = await Promise.all([
    // The page may send the books of the one before first, without an event.
    visitor.page.waitForRequest((sent) => !!sent.postData()?.includes('"event":"plain"')),
    visitor.clew('track', 'plain'),
  ]);
  expect(JSON.parse(plain.postData() ?? '').batch).toHaveLength(1);
});

test('works on another origin with few preflights, and hands over without one', { tag: '@promise' }, async ({
  demo,
  visitor,
  newRelay,
}) => {
  const relay = await newRelay();
  // A slow page may stay longer than a short interval, and would send again before it leaves.
  await visitor.visit({ baseUrl: relay.url, flushInterval: '60000' });
  for (let round = 0; round < 3; round++) {
    await visitor.trackAndLeave('stayed', 5, 'stay');
    await visitor.clew('flush');
  }
  expect(relay.came.map(({ method }) => method)).toEqual(['OPTIONS', 'POST', 'POST', 'POST']);
  await visitor.trackAndLeave('left', 20, 'navigate');
  await expect.poll(async () => numbers(await demo.events('left'))).toEqual(upTo(20));
  const last = relay.came.at(-1);
  expect([last?.method, last?.headers['content-type']]).toEqual(['POST', 'text/plain;charset=UTF-8']);
  expect(relay.came.filter(({ method }) => method === 'OPTIONS')).toHaveLength(1);
});

test('accepts a signed identity, on later pages too', { tag: '@promise' }, async ({ demo, visitor, newRelay }) => {
  const { url: baseUrl } = await newRelay({ identitySecret: SECRET });
  await visitor.visit({ baseUrl });
  const signature = await signPrimaryKey(SECRET, 'ann@example.com');
  await visitor.clew('identify', 'ann@example.com', { plan: 'pro' }, { signature });
  await visitor.clew('flush');
  await visitor.visit({ baseUrl });
  await visitor.clew('setProperties', { seats: 3 });
  await expect
    .poll(() => demo.customers())
    .toMatchObject([{ primaryKey: 'ann@example.com', properties: { plan: 'pro', seats: 3 } }]);
  expect(await demo.events('$identify')).toHaveLength(1);
});

const FORGERIES: readonly (readonly [string, () => Promise<string | undefined>])[] = [
  ['signed for another customer', () => signPrimaryKey(SECRET, 'eve@example.com')],
  ['unsigned', async () => undefined],
  ['signed with another secret', () => signPrimaryKey(`another ${SECRET}`, 'ann@example.com')],
];
for (const [what, forge] of firstOf(FORGERIES)) {
  test(`rejects a forged identity and delivers the other events: ${what}`, { tag: '@promise' }, async ({
    demo,
    visitor,
    newRelay,
  }) => {
    const { url: baseUrl } = await newRelay({ identitySecret: SECRET });
    await visitor.visit({ baseUrl });
    await visitor.clew('track', 'before');
    await visitor.clew('identify', 'ann@example.com', { plan: 'free' }, { signature: await forge() });
    await visitor.clew('track', 'after');
    await expect.poll(() => demo.events('after')).toHaveLength(1);
    await expect
      .poll(() => visitor.clew('stats'))
      .toEqual({ tracked: 3, delivered: 2, queued: 0, dropped: { rejected: 1 } });
    expect(await demo.events('before')).toHaveLength(1);
    expect(await demo.events('$identify')).toEqual([]);
    expect((await demo.customers()).map(({ primaryKey, properties }) => [primaryKey, properties])).toEqual(
      expect.not.arrayContaining([['ann@example.com', expect.anything()]]),
    );
  });
}

test('the relay reports how many events were tracked, delivered and dropped, for each release and engine', async ({
  demo,
  visitor,
  newRelay,
}) => {
  const reports: RelayReport[] = [];
  const relay = await newRelay({ onReport: (report) => reports.push(report), reportInterval: 1 });
  await visitor.visit({ baseUrl: relay.url, release: '1.4.2' });
  await visitor.trackAndLeave('counted', 5, 'stay');
  await visitor.page.evaluate(() => window.clew('track', 'huge', 'x'.repeat(70_000)));
  await visitor.trackAndLeave('counted', 3, 'stay');
  await expect.poll(() => demo.events('counted')).toHaveLength(8);
  await expect
    .poll(() => reports.at(-1))
    .toMatchObject({ taken: 8, repeats: 0, rejected: 0, missing: 0, corrected: 0 });
  const row = {
    release: '1.4.2',
    engine: 'chromium',
    tracked: 9,
    delivered: 8,
    dropped: { 'too-large': 1 },
    missing: 0,
  };
  await expect.poll(() => reports.at(-1)?.books).toMatchObject([row]);
});

test('a page restored from the back/forward cache goes on with its book, and misses nothing', {
  tag: ['@long', '@promise'],
}, async ({ demo, visitor, newRelay }) => {
  const reports: RelayReport[] = [];
  const relay = await newRelay({ onReport: (report) => reports.push(report), reportInterval: 1 });
  await visitor.visit({ baseUrl: relay.url });
  // A page that is left while it opens the database does not go into the cache.
  await visitor.clew('correlationValue');
  await visitor.trackAndLeave('counted', 5, 'navigate');
  await visitor.page.waitForURL(/next/);
  await goBack(visitor.page);
  await visitor.page.waitForFunction(() => typeof window.clew === 'function');
  await visitor.trackAndLeave('counted', 3, 'stay');
  await expect.poll(() => demo.events('counted')).toHaveLength(8);
  await expect.poll(() => reports.at(-1)).toMatchObject({ taken: 8, missing: 0 });
});

test('bisects an event that the service answers 500 through a relay that answers 502', {
  tag: ['@long', '@promise'],
}, async ({ demo, visitor, newRelay }) => {
  const { url: baseUrl } = await newRelay({
    // The real service also rejects an event with 500.
    fetch: (input, init) =>
      String(init?.body).includes('"poison"') ? Promise.resolve(new Response('', { status: 500 })) : fetch(input, init),
  });
  await visitor.visit({ baseUrl });
  await visitor.page.evaluate(async () => {
    for (let n = 0; n < 20; n++) window.clew('track', n === 7 ? 'poison' : 'good', { n });
    // The event `online` ends the waits between retries.
    const stir = setInterval(() => dispatchEvent(new Event('online')), 50);
    while ((window.clew('stats') as { queued: number }).queued) await window.clew('flush');
    clearInterval(stir);
  });
  expect(numbers(await demo.events('good'))).toEqual(upTo(20).filter((n) => n !== 7));
  expect(await visitor.clew('stats')).toEqual({ tracked: 20, delivered: 19, queued: 0, dropped: { rejected: 1 } });
});
