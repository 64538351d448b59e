import { bodyOf, expect, stub, test } from './support/test.ts';

test('calls queued by the stub before the bundle loads keep their order and times', {
  tag: '@promise',
}, async ({ demo, visitor }) => {
  await visitor.page.goto(`${demo.address}/blank`);
  await visitor.page.addScriptTag({ content: await stub() });
  const called = await visitor.page.evaluate(() => {
    window.clew('track', 'early', { n: 0 });
    window.clew('identify', 'early@example.com');
    window.clew('track', 'early', { n: 1 });
    return Date.now();
  });
  // The bundle loads half a second later, as on a slow connection.
  await visitor.page.waitForFunction((at) => Date.now() > at + 500, called);
  await visitor.load();
  await visitor.clew('track', 'late');
  await expect.poll(() => demo.events('late')).toHaveLength(1);
  const events = await demo.events();
  expect(events.map(({ event }) => event)).toEqual(['early', '$identify', 'early', 'late']);
  for (const { timestamp } of events.slice(0, 3)) expect(Date.parse(timestamp)).toBeLessThanOrEqual(called);
  expect(Date.parse(events[3]?.timestamp ?? '')).toBeGreaterThan(called + 400);
});

test('calls of a page that unloads before the bundle loads are sent by the next page', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  await visitor.page.goto(`${demo.address}/blank`);
  await visitor.page.addScriptTag({ content: await stub() });
  await visitor.page.evaluate(() => void window.clew('track', 'only the stub was there', { n: 1 }));
  await visitor.visit();
  await expect.poll(async () => (await demo.events()).map(({ payload }) => payload)).toEqual([{ n: 1 }]);
});

test('views of a page that unloads before the bundle loads have its title and address', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank?early`);
  await page.addScriptTag({ content: await stub() });
  await page.evaluate(() => {
    // In a head, the title may follow the script.
    document.title = '';
    window.clew('page');
    document.title = 'Early';
  });
  await visitor.visit();
  await visitor.clew('page');
  await expect
    .poll(async () => (await demo.events()).map(({ payload }) => payload))
    .toMatchObject([
      { title: 'Early', url: `${demo.address}/blank?early`, path: '/blank', referrer: '' },
      { title: 'Blank', url: `${demo.address}/blank`, path: '/blank' },
    ]);
});

test("clew('ready', callback) on the stub calls back once the bundle has loaded, in its turn", {
  tag: '@long',
}, async ({ demo, visitor }) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank`);
  await page.addScriptTag({ content: await stub() });
  await page.evaluate(() => {
    window.clew('track', 'first');
    window.clew('ready', (tracker: { track(event: string): void; correlationValue(): Promise<string> }) => {
      tracker.track('second');
      tracker.correlationValue().then((visitorId) => {
        document.title = visitorId;
      });
    });
    window.clew('track', 'third');
  });
  await visitor.load();
  await expect.poll(async () => (await demo.events()).map(({ event }) => event)).toEqual(['first', 'second', 'third']);
  expect(await page.title()).toBe((await demo.events())[0]?.correlationValue);
});

test('reads every scalar option from data- attributes', async ({ demo, visitor }) => {
  await visitor.visit({ flushInterval: '600000', maxBatchEvents: '2', debug: '' });
  const said = visitor.page.waitForEvent('console', (message) => message.text().startsWith('clew: delivered'));
  const bodies: number[] = [];
  visitor.page.on('request', (request) => bodies.push(JSON.parse(bodyOf(request) || '{"batch":[]}').batch.length));
  await visitor.trackAndLeave('small', 4, 'stay');
  await expect.poll(() => demo.events('small')).toHaveLength(4);
  await said;
  // Playwright may emit a request after the collector has answered it.
  await expect.poll(() => bodies).toEqual([2, 2]);
});

test('a second script tag leaves the first one in charge of the page', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  await visitor.visit();
  await visitor.load();
  await visitor.clew('track', 'once');
  await visitor.clew('flush');
  expect(await demo.events()).toHaveLength(1);
});

test('without a base URL the script reports the attribute that it expects', { tag: '@long' }, async ({
  demo,
  context,
}) => {
  const page = await context.newPage();
  await page.goto(`${demo.address}/blank`);
  const [error] = await Promise.all([page.waitForEvent('pageerror'), page.addScriptTag({ url: '/dist/clew.js' })]);
  expect(error.message).toContain('baseUrl: expected a string');
});

test('works under a strict Content-Security-Policy with nonce and Trusted Types', async ({ demo, visitor }) => {
  const response = await visitor.page.goto(`${demo.address}/shop/`);
  expect(response?.headers()['content-security-policy']).toContain("require-trusted-types-for 'script'");
  await visitor.page.waitForFunction(() => !('q' in window.clew));
  await visitor.clew('track', 'strict');
  await expect.poll(() => demo.events('strict')).toHaveLength(1);
});

test('throws no exception while it starts and sends, not even a caught one', async ({ demo, visitor }) => {
  const session = await visitor.page.context().newCDPSession(visitor.page);
  const thrown: unknown[] = [];
  session.on('Debugger.paused', ({ data, callFrames }) => {
    thrown.push([data?.description, callFrames[0]?.location]);
    session.send('Debugger.resume').catch(() => {});
  });
  await visitor.page.goto(`${demo.address}/blank`);
  await session.send('Debugger.enable');
  await session.send('Debugger.setPauseOnExceptions', { state: 'all' });
  await visitor.load({ pageViews: '', clicks: '' });
  await visitor.clew('track', 'opened');
  await visitor.clew('flush');
  expect(await demo.events('opened')).toHaveLength(1);
  expect(thrown).toEqual([]);
});
