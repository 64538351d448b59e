import { startSite } from './faults/support/site.ts';
import { holdDatabase } from './support/busyDatabase.ts';
import { goBack } from './support/goBack.ts';
import { openBrowser, withProfile } from './support/ownBrowser.ts';
import { visitBlank } from './support/tag.ts';
import { firstOf, isAll } from './support/tags.ts';
import { bodyOf, expect, numbers, test, upTo } from './support/test.ts';

for (const how of isAll ? (['navigate', 'close', 'reload'] as const) : (['navigate', 'close'] as const)) {
  test(`200 events tracked on a first visit arrive once each: ${how} at once`, { tag: '@promise' }, async ({
    demo,
    visitor,
  }) => {
    await visitor.visit({ flushInterval: '3000' });
    await visitor.trackAndLeave('left', 200, how);
    // A slow page may begin a request before it leaves. The page's handover passes the events of a request that is cut.
    const arrived = async () =>
      numbers(await demo.events('left')).toSorted((one, other) => Number(one) - Number(other));
    await expect.poll(arrived).toEqual(upTo(200));
  });

  for (const [link, options, sendings] of [
    ['through a relay arrive once each and are sent once, although the page cannot read the response', {}, 1],
    ['after a confirmed direct request arrive once each and are sent once', { baseUrl: '', apiKey: 'demo-key' }, 1],
  ] as const) {
    test(`events tracked ${link}: ${how} at once`, { tag: '@promise' }, async ({
      demo,
      context,
      visitor,
      newVisitor,
    }) => {
      const tag = 'apiKey' in options ? { ...options, baseUrl: demo.address } : {};
      // On a slow machine, the page may stay longer than a short interval, and would begin a request that it cannot finish.
      await visitor.visit({ ...tag, flushInterval: '60000' });
      await visitor.trackAndLeave('proof', 1, 'stay');
      await expect.poll(() => demo.events('proof')).toHaveLength(1);
      await visitor.clew('flush');
      await visitor.trackAndLeave('left', 50, how);
      await expect.poll(async () => numbers(await demo.events('left'))).toEqual(upTo(50));

      const next = await newVisitor(context);
      const bodies: string[] = [];
      next.page.on('request', (request) => bodies.push(bodyOf(request)));
      await next.visit(tag);
      await next.clew('track', 'next');
      await expect.poll(() => demo.events('next')).toHaveLength(1);
      expect(bodies.filter((body) => body.includes('"left"'))).toHaveLength(sendings - 1);
      expect(numbers(await demo.events('left'))).toEqual(upTo(50));
    });
  }
}

for (const sender of firstOf(['next page', 'other tab'] as const)) {
  test(`handed-over events that the database did not delete are not sent again by the ${sender}`, {
    tag: '@promise',
  }, async ({ demo, context, visitor, newVisitor }) => {
    const tag = { baseUrl: demo.address, apiKey: 'demo-key', flushInterval: '60000' };
    await visitor.visit(tag);
    await visitor.clew('track', 'proof');
    await visitor.clew('flush');
    const other = await newVisitor(context);
    if (sender === 'other tab') await other.visit(tag);
    const third = await context.newPage();
    await third.goto(`${demo.address}/blank`);
    const stored = visitor.page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          window.clew('on', 'trace', ({ step }: { step: string }) => step === 'stored' && resolve());
        }),
    );
    await visitor.trackAndLeave('left', 50, 'stay');
    await stored;
    const release = await holdDatabase(third);
    await visitor.page.reload();
    await expect.poll(async () => numbers(await demo.events('left'))).toEqual(upTo(50));
    const bodies: string[] = [];
    context.on('request', (request) => bodies.push(bodyOf(request)));
    const next = sender === 'other tab' ? other : visitor;
    if (sender === 'next page') await next.load(tag);
    await release();
    await next.clew('track', 'next');
    await next.clew('flush');
    expect(await demo.events('next')).toHaveLength(1);
    expect(bodies.filter((body) => body.includes('"left"'))).toHaveLength(0);
  });
}

/**
 * Opens a visitor's first page in a new browser, and leaves it as soon as it has loaded. Resolves to `stored` if the next page
 * stores an event, and otherwise to the error.
 */
const leaveFirstPage = (origin: string) =>
  withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    try {
      const page = await browser.newPage();
      await page.goto(`${origin}/page/1`);
      await page
        .evaluate(() => {
          window.clew('track', 'first');
          location.href = '/page/2';
        })
        .catch(() => {});
      await page.waitForURL('**/page/2');
      // If the database is shut, the tracker tries to open it twice, and then emits an error.
      return await page.evaluate(
        () =>
          new Promise<string>((resolve) => {
            window.clew('on', 'error', ({ message }: Error) => resolve(message));
            window.clew('on', 'trace', ({ step }: { step: string }) => step === 'stored' && resolve(step));
            window.clew('track', 'next');
          }),
      );
    } finally {
      await browser.kill();
    }
  });

test('a first page left while its database is created does not block the next page', {
  tag: ['@long', '@promise'],
}, async ({ demo }) => {
  const site = await startSite(demo);
  try {
    // Three browsers at once slow down the creation of the database.
    for (let round = 0; round < 4; round++) {
      const outcomes = await Promise.all([1, 2, 3].map(() => leaveFirstPage(site.origin)));
      expect(outcomes).toEqual(['stored', 'stored', 'stored']);
    }
  } finally {
    await site.close();
  }
});

test('hands over directly with the key in a header when there is no relay', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  await visitor.visit({ baseUrl: demo.address, apiKey: 'demo-key', flushInterval: '60000' });
  // Over a proven link, a slow page begins no request before it leaves.
  await visitor.clew('track', 'proof');
  await visitor.clew('flush');
  await visitor.trackAndLeave('direct', 100, 'navigate');
  await expect.poll(async () => numbers(await demo.events('direct'))).toEqual(upTo(100));
});

test('a sign-up on a page that unloads identifies, sets properties and fires the journey', {
  tag: '@promise',
}, async ({ demo, visitor }) => {
  await visitor.visit();
  await visitor.page.evaluate(() => {
    window.clew('identify', 'leaver@example.com', { name: 'Lea', plan: 'pro' });
    window.clew('track', 'signup', { plan: 'pro' });
    location.href = '/blank?next';
  });
  await visitor.page.waitForURL('**/blank?next');
  await expect.poll(() => demo.events('signup')).toHaveLength(1);
  await expect
    .poll(async () => (await demo.customers()).map(({ primaryKey, properties }) => ({ primaryKey, properties })))
    .toEqual([{ primaryKey: 'leaver@example.com', properties: { name: 'Lea', plan: 'pro' } }]);
});

test('enters the back/forward cache and tracks again after its return', { tag: '@promise' }, async ({
  demo,
  visitor,
}) => {
  await visitor.visit();
  await visitor.clew('track', 'before');
  await expect.poll(() => demo.events('before')).toHaveLength(1);
  await visitor.page.evaluate(() => {
    addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted }));
  });
  await visitor.page.goto(`${demo.address}/blank?next`);
  await goBack(visitor.page);
  await visitor.page.waitForFunction(() => (window as unknown as { persisted?: boolean }).persisted === true);
  await visitor.trackAndLeave('after', 3, 'stay');
  await expect.poll(async () => numbers(await demo.events('after'))).toEqual(upTo(3));
  // The page reads the answer after the service has stored the events.
  await expect.poll(() => visitor.clew('stats')).toMatchObject({ tracked: 4, delivered: 4, queued: 0 });
});

test('sends immediately when the page is hidden', { tag: '@promise' }, async ({ demo }) => {
  await withProfile(async (profile) => {
    const browser = await openBrowser(profile);
    const page = await browser.newPage();
    await visitBlank(page, demo.address, { flushInterval: '600000' });
    await page.evaluate(() => window.clew('correlationValue'));
    await page.evaluate(() => {
      for (let n = 0; n < 3; n++) window.clew('track', 'looked away', { n });
    });
    await browser.newPage();
    await page.waitForFunction(() => document.hidden, undefined, { polling: 50 });
    await expect.poll(async () => numbers(await demo.events('looked away'))).toEqual(upTo(3));
    await browser.kill();
  });
});
