import type { Request } from '@playwright/test';
import { bodyOf, expect, numbers, test, upTo } from './support/test.ts';

const isBatch = (request: Request) => request.url().endsWith('/clew/api/events/batch/');

test('sends the events of one flush interval in one request', { tag: '@long' }, async ({ demo, visitor }) => {
  await visitor.visit({ flushInterval: '500' });
  await visitor.clew('flush');
  const requests: string[] = [];
  visitor.page.on('request', (request) => {
    if (isBatch(request)) requests.push(bodyOf(request));
  });
  const [request] = await Promise.all([
    visitor.page.waitForRequest(isBatch),
    visitor.trackAndLeave('gathered', 5, 'stay'),
  ]);
  expect(JSON.parse(bodyOf(request)).batch).toHaveLength(5);
  await expect.poll(() => demo.events('gathered')).toHaveLength(5);
  expect(requests).toHaveLength(1);
});

test('sends every field of the contract once per event, in the order of the calls', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  const before = Date.now();
  await visitor.visit();
  await visitor.trackAndLeave('ordered', 450, 'stay');
  await expect.poll(async () => numbers(await demo.events('ordered'))).toEqual(upTo(450));
  const correlationValue = await visitor.clew('correlationValue');
  for (const event of await demo.events('ordered')) {
    expect(event).toMatchObject({ source: 'custom', correlationKey: '_id', correlationValue });
    expect(Date.parse(event.timestamp)).toBeGreaterThanOrEqual(before);
  }
  const uuids = (await demo.events()).map(({ uuid }) => uuid);
  expect(new Set(uuids).size).toBe(450);
  // The page reads the answer after the service has stored the events.
  const all = { tracked: 450, delivered: 450, queued: 0, dropped: {} };
  await expect.poll(() => visitor.clew('stats')).toEqual(all);
});

test('sends a full batch before the flush interval ends', { tag: ['@long', '@promise'] }, async ({ demo, visitor }) => {
  await visitor.visit({ flushInterval: '600000' });
  // The first request goes at once, with what there is by then, because its answer shows whether the link works.
  await visitor.clew('track', 'proof');
  await visitor.clew('flush');
  await visitor.trackAndLeave('full', 200, 'stay');
  await expect.poll(async () => numbers(await demo.events('full'))).toEqual(upTo(200));
});

test('splits batches below 60,000 bytes of UTF-8', { tag: '@promise' }, async ({ demo, visitor }) => {
  await visitor.visit();
  const sizes: number[] = [];
  visitor.page.on('request', (request) => {
    if (isBatch(request)) sizes.push(Buffer.byteLength(bodyOf(request)));
  });
  await visitor.page.evaluate(() => {
    for (let n = 0; n < 100; n++) window.clew('track', 'wide', { n, text: '€'.repeat(1000) });
  });
  await expect.poll(async () => numbers(await demo.events('wide'))).toEqual(upTo(100));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(60_000);
  expect(sizes.length).toBeLessThanOrEqual(8);
});

test('delivers from a page that was opened with a password, or whose <base> is another host', async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address.replace('//', '//ann:secret@')}/blank`);
  await visitor.load();
  await visitor.clew('track', 'kept');
  await expect.poll(() => demo.events('kept')).toHaveLength(1);
  await visitor.trackAndLeave('left', 1, 'navigate');
  await expect.poll(() => demo.events('left')).toHaveLength(1);

  await visitor.visit();
  await page.evaluate(() => document.head.insertAdjacentHTML('beforeend', '<base href="http://elsewhere.example/">'));
  await visitor.clew('track', 'based');
  await expect.poll(() => demo.events('based')).toHaveLength(1);
});

test('copies the payload in the call, so later changes have no effect', { tag: '@long' }, async ({ demo, visitor }) => {
  await visitor.visit();
  await visitor.page.evaluate(() => {
    const payload = { plan: 'pro' };
    window.clew('track', 'snapshot', payload);
    payload.plan = 'changed';
  });
  await expect.poll(async () => (await demo.events('snapshot'))[0]?.payload).toEqual({ plan: 'pro' });
});

test('sends one event immediately to the single-event endpoint', { tag: '@long' }, async ({ demo, visitor }) => {
  await visitor.visit({ flushInterval: '600000' });
  const single = visitor.page.waitForRequest((request) => request.url().endsWith('/clew/events/'));
  await visitor.clew('trackNow', 'urgent', { plan: 'pro' });
  expect(JSON.parse(bodyOf(await single))).not.toHaveProperty('timestamp');
  expect((await demo.events('urgent'))[0]?.payload).toEqual({ plan: 'pro' });
});

test('sends a single event that failed in a batch, with its own time', { tag: ['@long', '@promise'] }, async ({
  demo,
  visitor,
}) => {
  await demo.fault({ mode: 'status', status: 503, count: 1 });
  await visitor.visit();
  const called = visitor.page.evaluate(() => {
    const from = Date.now();
    window.clew('trackNow', 'urgent');
    return [from, Date.now()] as const;
  });
  const [batch, [from, to]] = await Promise.all([visitor.page.waitForRequest(isBatch), called]);
  await expect.poll(() => demo.events('urgent')).toHaveLength(1);
  const at = Date.parse(JSON.parse(bodyOf(batch)).batch[0].timestamp);
  expect(at).toBeGreaterThanOrEqual(from);
  expect(at).toBeLessThanOrEqual(to);
});

test('sends directly to the service with the key only in the header', async ({ demo, visitor }) => {
  await visitor.visit({ baseUrl: `${demo.address}/`, apiKey: 'demo-key' });
  const [request] = await Promise.all([
    visitor.page.waitForRequest((sent) => sent.url() === `${demo.address}/api/events/batch/`),
    visitor.clew('track', 'direct'),
  ]);
  expect(await request.headerValue('authorization')).toBe('Api-Key demo-key');
  await expect.poll(() => demo.events('direct')).toHaveLength(1);
});

test('reports invalid calls as errors and sends all valid events', { tag: ['@long', '@promise'] }, async ({
  demo,
  visitor,
}) => {
  await visitor.visit();
  const told = await visitor.page.evaluate(async () => {
    const errors: string[] = [];
    const dropped: string[] = [];
    window.clew('on', 'error', (error: Error) => errors.push(error.message));
    window.clew('on', 'dropped', ({ reason }: { reason: string }) => dropped.push(reason));
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    window.clew('track', '');
    window.clew('track', 42);
    window.clew('track', '$identify', { distinct_id: 'x' });
    window.clew('track', 'cyclic', cycle);
    window.clew('track', 'big', { big: 1n });
    window.clew('track', 'huge', { text: 'x'.repeat(70_000) });
    window.clew('identify', 42);
    window.clew('identify', '');
    window.clew('setProperties', [1]);
    window.clew('track', 'good');
    await window.clew('flush');
    return { errors, dropped, stats: window.clew('stats') };
  });
  expect(told.dropped.sort()).toEqual([
    'rejected',
    'rejected',
    'rejected',
    'too-large',
    'unserialisable',
    'unserialisable',
  ]);
  expect(told.errors).toHaveLength(8);
  expect(told.stats).toMatchObject({ tracked: 7, delivered: 1, queued: 0 });
  expect((await demo.events()).map(({ event }) => event)).toEqual(['good']);
});
