import type { Page } from '@playwright/test';
import type { Demo } from './support/demo.ts';
import { loadTag } from './support/tag.ts';
import { expect, numbers, stub, test, upTo, type Visitor } from './support/test.ts';

/** Everything that a page can have left in the browser for this origin. */
const written = (page: Page): Promise<string[]> =>
  page.evaluate(async () => [
    ...(await indexedDB.databases()).map(({ name }) => `database ${name}`),
    ...Object.keys(localStorage),
    ...Object.keys(sessionStorage),
    ...(document.cookie ? [document.cookie] : []),
  ]);

/**
 * Resolves once the browser has answered all earlier requests for clew's database, because it answers them in order. Until then,
 * `databases()` may not list a database that a page has requested.
 */
const answered = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const request = indexedDB.open('clew');
        // The probe must not make the database itself.
        request.onupgradeneeded = () => request.transaction?.abort();
        request.onerror = (event) => {
          event.preventDefault();
          resolve();
        };
        request.onsuccess = () => {
          request.result.close();
          resolve();
        };
      }),
  );

const requestsOf = (page: Page): string[] => {
  const requests: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') requests.push(request.url());
  });
  return requests;
};

/** Names of the events that have arrived. The last one is tracked with consent, after all others. */
const arrivedUpToLast = async (demo: Demo, visitor: Visitor): Promise<string[]> => {
  await visitor.clew('consent', true);
  await visitor.clew('track', 'last');
  await expect.poll(() => demo.events('last')).toHaveLength(1);
  return (await demo.events()).map(({ event }) => event);
};

/** Makes the browser send Global Privacy Control, from each page's first line on. */
const sendGpc = (page: Page) =>
  page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true }));

test.describe('with consent required', { tag: '@promise' }, () => {
  test('nothing is written or sent before consent, also when the page unloads', async ({ demo, context, visitor }) => {
    const { page } = visitor;
    const requests = requestsOf(page);
    await visitor.visit({ consent: 'required' });
    await visitor.clew('identify', 'ann@example.com', { plan: 'pro' });
    await visitor.clew('page');
    await visitor.trackAndLeave('unanswered', 3, 'stay');
    await visitor.clew('flush');
    expect(await written(page)).toEqual([]);
    await page.goto(`${demo.address}/blank?next`);
    expect(await written(page)).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    expect(requests).toEqual([]);
    await visitor.load({ consent: 'required' });
    expect(await arrivedUpToLast(demo, visitor)).toEqual(['last']);
  });

  test('calls queued by the stub are not written before consent', async ({ demo, visitor }) => {
    const { page } = visitor;
    await page.goto(`${demo.address}/blank`);
    await page.addScriptTag({ content: await stub() });
    await page.evaluate(() => {
      const tag = document.createElement('script');
      // Capitals make no difference.
      Object.assign(tag.dataset, { baseUrl: '/clew', consent: 'Required' });
      document.head.append(tag);
      window.clew('track', 'only the stub was there');
    });
    await page.goto(`${demo.address}/blank?next`);
    expect(await written(page)).toEqual([]);
    await visitor.load({ consent: 'required' });
    expect(await arrivedUpToLast(demo, visitor)).toEqual(['last']);
  });

  test('held events are sent in order with their own times after consent', async ({ demo, visitor }) => {
    await visitor.visit({ consent: 'required' });
    const asked = await visitor.page.evaluate(() => Date.now());
    await visitor.clew('identify', 'ann@example.com');
    await visitor.trackAndLeave('held', 5, 'stay');
    const tracked = await visitor.page.evaluate(() => Date.now());
    await visitor.page.waitForFunction((at) => Date.now() > at + 300, tracked);
    await visitor.clew('consent', true);
    await expect.poll(async () => numbers(await demo.events('held'))).toEqual(upTo(5));
    const events = await demo.events();
    expect(events[0]?.event).toBe('$identify');
    for (const { timestamp } of events) {
      expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(asked);
      expect(Date.parse(timestamp)).toBeLessThanOrEqual(tracked);
    }
  });

  test('consent in one tab starts all open tabs with one visitor id', async ({ demo, context, newVisitor }) => {
    const [first, second] = [await newVisitor(context), await newVisitor(context)];
    for (const tab of [first, second]) await tab.visit({ consent: 'required' });
    await first.clew('track', 'first');
    await second.clew('track', 'second');
    await first.clew('consent', true);
    await expect
      .poll(async () => (await demo.events()).map(({ event }) => event).toSorted())
      .toEqual(['first', 'second']);
    expect(new Set((await demo.events()).map(({ correlationValue }) => correlationValue)).size).toBe(1);
  });

  test('a new page holds events until consent, then keeps the visitor id', { tag: '@long' }, async ({
    demo,
    visitor,
  }) => {
    await visitor.visit({ consent: 'required' });
    await visitor.clew('consent', true);
    const visitorId = await visitor.clew('correlationValue');
    const requests = requestsOf(visitor.page);
    await visitor.visit({ consent: 'required' });
    await visitor.clew('track', 'second page');
    await visitor.clew('flush');
    expect(requests).toEqual([]);
    await visitor.clew('consent', true);
    expect(await visitor.clew('correlationValue')).toBe(visitorId);
    await expect.poll(() => demo.events('second page')).toHaveLength(1);
  });

  test('consent() with a value other than true or false is refused and starts nothing', { tag: '@long' }, async ({
    demo,
    visitor,
  }) => {
    await visitor.visit({ consent: 'required' });
    const requests = requestsOf(visitor.page);
    const error = visitor.page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          window.clew('on', 'error', ({ message }: Error) => resolve(message));
          window.clew('consent', 'denied');
        }),
    );
    expect(await error).toBe('clew: consent: expected a boolean');
    await visitor.clew('track', 'unanswered');
    await visitor.clew('flush');
    expect(await written(visitor.page)).toEqual([]);
    expect(requests).toEqual([]);
    expect(await visitor.clew('stats')).toMatchObject({ tracked: 1, queued: 1 });
    expect(await arrivedUpToLast(demo, visitor)).toEqual(['unanswered', 'last']);
  });
});

test.describe('a refusal', { tag: '@promise' }, () => {
  test('erases what all tabs have stored, and each tab reports what it dropped', async ({
    context,
    demo,
    newVisitor,
  }) => {
    const [first, second] = [await newVisitor(context), await newVisitor(context)];
    for (const tab of [first, second]) await tab.visit();
    const visitorId = await first.clew('correlationValue');
    expect(await second.clew('correlationValue')).toBe(visitorId);
    await context.setOffline(true);
    await first.trackAndLeave('first', 3, 'stay');
    await second.trackAndLeave('second', 4, 'stay');
    await first.clew('flush');
    await second.clew('flush');
    await first.clew('consent', false);
    await expect.poll(() => second.clew('stats')).toMatchObject({ queued: 0, dropped: { consent: 4 } });
    expect(await first.clew('stats')).toMatchObject({ queued: 0, dropped: { consent: 3 } });
    await second.clew('track', 'later');
    expect(await second.clew('stats')).toMatchObject({ dropped: { consent: 5 } });
    for (const tab of [first, second]) await expect.poll(() => written(tab.page)).toEqual([]);
    await context.setOffline(false);
    await first.clew('flush');
    await second.clew('flush');
    expect(await context.cookies()).toEqual([]);
    expect(await first.clew('stats')).toEqual({ tracked: 3, delivered: 0, queued: 0, dropped: { consent: 3 } });

    await first.visit();
    expect(await first.clew('correlationValue')).not.toBe(visitorId);
    expect(await arrivedUpToLast(demo, first)).toEqual(['last']);
  });

  test('leaves nothing stored when it comes while the database opens', { tag: '@long' }, async ({ visitor, demo }) => {
    const { page } = visitor;
    await page.goto(`${demo.address}/blank`);
    await page.addScriptTag({ content: await stub() });
    await page.evaluate(() => {
      window.clew('track', 'early');
      window.clew('consent', false);
    });
    await loadTag(page);
    expect(await visitor.clew('stats')).toMatchObject({ queued: 0, dropped: { consent: 1 } });
    await answered(page);
    await expect.poll(() => written(page)).toEqual([]);
    await visitor.clew('flush');
    await answered(page);
    await expect.poll(() => written(page)).toEqual([]);
    expect(await arrivedUpToLast(demo, visitor)).toEqual(['last']);
  });

  test('leaves nothing stored when it comes during a request', async ({ visitor, demo }) => {
    const { page } = visitor;
    await visitor.visit();
    await demo.fault({ mode: 'slow', delay: 500, count: 1 });
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.method() === 'POST'),
      visitor.trackAndLeave('under way', 3, 'stay'),
    ]);
    await visitor.clew('consent', false);
    await request.response();
    await visitor.clew('flush');
    await expect.poll(() => written(page)).toEqual([]);
    await visitor.clew('track', 'later');
    await visitor.clew('flush');
    expect(await written(page)).toEqual([]);
    expect(await arrivedUpToLast(demo, visitor)).not.toContain('later');
  });

  test('also applies to the previous page when it returns from the back/forward cache', async ({ visitor, demo }) => {
    const { page } = visitor;
    await visitor.visit();
    await visitor.clew('correlationValue');
    await visitor.clew('flush');
    await page.goto(`${demo.address}/blank?privacy`);
    await visitor.load({ consent: 'required' });
    await visitor.clew('consent', false);
    await expect.poll(() => written(page)).toEqual([]);
    await page.goBack();
    expect(await page.evaluate(() => 'clew' in window)).toBe(false);
    expect(await written(page)).toEqual([]);
    await visitor.load({ consent: 'required' });
    expect(await arrivedUpToLast(demo, visitor)).toEqual(['last']);
  });

  test('can be withdrawn, and later events get a new visitor id', { tag: '@long' }, async ({ visitor, demo }) => {
    await visitor.visit();
    const visitorId = await visitor.clew('correlationValue');
    await visitor.clew('consent', false);
    await visitor.clew('track', 'refused');
    await visitor.clew('consent', true);
    await visitor.clew('track', 'granted');
    await expect.poll(() => demo.events('granted')).toHaveLength(1);
    expect(await visitor.clew('correlationValue')).not.toBe(visitorId);
    expect(await demo.events('refused')).toEqual([]);
  });

  test('and a consent in the same task give a busy tab the new visitor, and lose nothing', { tag: '@long' }, async ({
    demo,
    context,
    newVisitor,
  }) => {
    const [first, second] = [await newVisitor(context), await newVisitor(context)];
    for (const tab of [first, second]) await tab.visit({ consent: 'required' });
    await first.clew('consent', true);
    await first.clew('identify', 'ann');
    await first.clew('flush');
    const refused = await first.clew('correlationValue');
    expect(await second.clew('correlationValue')).toBe(refused);
    const busy = second.page.evaluate(() => {
      const end = performance.now() + 3000;
      while (performance.now() < end);
    });
    await first.page.evaluate(() => {
      window.clew('consent', false);
      window.clew('consent', true);
    });
    const fresh = await first.clew('correlationValue');
    await first.clew('identify', 'bob');
    await first.clew('track', 'since');
    await first.clew('flush');
    // The busy tab learns of both answers when their tab has gone.
    await first.page.close();
    await busy;
    await expect.poll(() => second.clew('correlationValue')).toBe(fresh);
    expect(fresh).not.toBe(refused);
    await second.clew('identify', 'bob');
    await second.clew('track', 'there');
    await second.clew('flush');
    for (const name of ['since', 'there'])
      await expect
        .poll(async () => (await demo.events(name)).map(({ correlationValue }) => correlationValue))
        .toEqual([fresh]);
    expect(await demo.events('$identify')).toHaveLength(2);
  });

  test('drops the view of a route that is shown at a later consent', { tag: '@long' }, async ({ visitor, demo }) => {
    const { page } = visitor;
    await visitor.visit({ pageViews: '', consent: 'required' });
    const views = async () => (await demo.events('page_view')).map(({ payload }) => (payload as { path: string }).path);
    await visitor.clew('consent', false);
    await page.evaluate(() => {
      history.pushState({}, '', '/refused');
      window.clew('consent', true);
    });
    await page.evaluate(() => history.pushState({}, '', '/granted'));
    await expect.poll(views).toEqual(['/granted']);
    const [view] = await demo.events('page_view');
    expect(view?.payload).toMatchObject({ referrer: '' });
  });
});

test.describe('Global Privacy Control', { tag: '@promise' }, () => {
  test('counts as a refusal with `respectGpc`', async ({ context, visitor, demo }) => {
    const requests = requestsOf(visitor.page);
    await sendGpc(visitor.page);
    await visitor.visit({ respectGpc: '' });
    await visitor.trackAndLeave('signalled', 3, 'stay');
    await visitor.clew('identify', 'ann@example.com');
    await visitor.clew('flush');
    expect(await visitor.clew('stats')).toEqual({ tracked: 3, delivered: 0, queued: 0, dropped: { consent: 3 } });
    await visitor.page.goto(`${demo.address}/blank?next`);
    expect(await written(visitor.page)).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    expect(requests).toEqual([]);
  });

  test('keeps the stub from writing', async ({ visitor, demo }) => {
    const { page } = visitor;
    await sendGpc(page);
    await page.goto(`${demo.address}/blank`);
    await page.addScriptTag({ content: await stub() });
    await page.evaluate(() => {
      const tag = document.createElement('script');
      Object.assign(tag.dataset, { baseUrl: '/clew', respectGpc: '' });
      document.head.append(tag);
      window.clew('track', 'only the stub was there');
    });
    await page.goto(`${demo.address}/blank?next`);
    expect(await written(page)).toEqual([]);
  });

  test('is overridden by consent(true), and the visitor id is kept over pages', { tag: '@long' }, async ({
    visitor,
    demo,
  }) => {
    await sendGpc(visitor.page);
    await visitor.visit({ respectGpc: '' });
    await visitor.clew('track', 'refused');
    await visitor.clew('consent', true);
    await visitor.clew('track', 'granted');
    const visitorId = await visitor.clew('correlationValue');
    await expect.poll(() => demo.events('granted')).toHaveLength(1);
    await visitor.visit({ respectGpc: '' });
    await visitor.clew('consent', true);
    expect(await visitor.clew('correlationValue')).toBe(visitorId);
    expect(await demo.events('refused')).toEqual([]);
  });

  test('has no effect without `respectGpc`, and its absence has no effect', { tag: '@long' }, async ({
    context,
    newVisitor,
    demo,
  }) => {
    const [signalling, other] = [await newVisitor(context), await newVisitor(context)];
    await sendGpc(signalling.page);
    await signalling.visit();
    await signalling.clew('track', 'not respected');
    await other.visit({ respectGpc: '' });
    await other.clew('track', 'not signalled');
    await expect.poll(async () => (await demo.events()).length).toBe(2);
  });
});
