import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import type * as Inspector from '../src/inspector.ts';
import { goBack } from './support/goBack.ts';
import { type Site, startSite } from './support/site.ts';
import { test as base, expect, stub, upTo, type Visitor } from './support/test.ts';

const test = base.extend<{ site: Site }>({
  site: async ({ demo }, use) => {
    const site = await startSite(demo);
    await use(site);
    await site.stop();
  },
});

/** Opens the docked inspector for the page's `clew`. `closeInspector` closes it. */
const inspect = (page: Page) =>
  page.evaluate(async (file) => {
    const { inspect } = (await import(file)) as typeof Inspector;
    window.closeInspector = inspect(window.clew);
  }, '/dist/inspector.js');

/** Opens the blank page with the script tag in it, and the inspector over it. */
const visitAndInspect = async (visitor: Visitor, options?: Record<string, string>) => {
  await visitor.visit(options);
  await inspect(visitor.page);
};

const partsOf = (page: Page) => ({
  sum: page.locator('clew-inspector .sum'),
  events: page.getByRole('region', { name: 'Events' }),
  requests: page.getByRole('region', { name: 'Requests' }),
  state: page.getByRole('region', { name: 'State' }),
  rows: page.getByRole('list', { name: 'Events' }).getByRole('group'),
  row: (name: string) =>
    page.getByRole('list', { name: 'Events' }).getByRole('group').filter({ hasText: name }).first(),
});

const TIME = /\d\d:\d\d:\d\d\.\d{3}/;

test('an event has each step with its time, and its payload when the keyboard opens its row', async ({
  demo,
  visitor,
}) => {
  await visitAndInspect(visitor);
  const { row, sum } = partsOf(visitor.page);
  await visitor.clew('track', 'signup', { plan: 'pro' });
  await expect(row('signup')).toContainText('confirmed');
  await row('signup').locator('summary').press('Enter');
  const steps = row('signup').getByRole('list', { name: 'Steps' }).getByRole('listitem');
  await expect(steps).toHaveText([/^\s*Tracked/, /^\s*Stored/, /^\s*Sent.*request #1/s, /^\s*Confirmed/]);
  for (const step of await steps.all()) await expect(step).toHaveText(TIME);
  await expect(row('signup').getByRole('region', { name: 'Payload' })).toHaveText('{ "plan": "pro" }');
  const [event] = await demo.events('signup');
  await expect(row('signup')).toContainText(event?.uuid ?? 'none');
  await expect(row('signup')).toContainText(event?.correlationValue ?? 'none');
  await expect(sum).toHaveText('1 tracked = 1 delivered + 0 queued + 0 dropped');
});

test('a failed request has its response and its retry, and its event the number of requests', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  await visitAndInspect(visitor);
  const { row, requests, state } = partsOf(visitor.page);
  await demo.fault({ mode: 'status', status: 503, retryAfter: '11', count: 1 });
  await visitor.clew('track', 'unlucky');
  await expect(requests).toContainText('503 failed');
  await expect(requests).toContainText('the service answered 503');
  await expect(requests).toContainText(/Retry in \d+ s, at \d\d:\d\d:\d\d\s+\(Retry-After: 11 s\)/);
  await expect(state).toContainText(/Retry in \d+ s, at .*, after 1 failure in a row/);
  await expect(row('unlucky')).toContainText('queued');
  await expect(row('unlucky')).toContainText('confirmed, sent 2×');
  await expect(requests.getByRole('listitem')).toHaveCount(2);
  await expect(requests.getByRole('listitem').first()).toContainText(/\/api\/events\/batch\/.*1 event.*as gzip.*201/s);
});

test('a rejected event is dropped, with the reason and the response of the service', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  await visitAndInspect(visitor);
  const { row, state, sum } = partsOf(visitor.page);
  await demo.fault({ mode: 'status', status: 400, count: 1 });
  await visitor.clew('track', 'poison');
  await expect(row('poison')).toContainText('dropped: rejected');
  await row('poison').locator('summary').click();
  await expect(row('poison')).toContainText('a 400 on demand');
  await expect(state).toContainText(/rejected\s*1\s*the service or the relay rejected it, or its name is invalid/);
  await expect(sum).toHaveText('1 tracked = 0 delivered + 0 queued + 1 dropped');
});

test('a tab without the lease shows the sending tab and the end of its own events', { tag: '@long' }, async ({
  context,
  newVisitor,
  visitor,
}) => {
  await visitAndInspect(visitor);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await visitor.page.route('**/clew/**', async (route) => {
    await released;
    await route.continue();
  });
  await visitor.clew('track', 'first');
  const sending = partsOf(visitor.page);
  await expect(sending.requests).toContainText('waiting for the response');
  await expect(sending.state).toContainText('This tab sends for all tabs');
  // The other tab opens only now, because either of two idle tabs could take the lease first.
  const other = await newVisitor(context);
  // The other tab's long flush interval leaves its events to the tab that sends.
  await visitAndInspect(other, { flushInterval: '8000' });
  await other.clew('track', 'second');
  const waiting = partsOf(other.page);
  await expect(waiting.state).toContainText('Another tab sends for all tabs');
  const name = (await visitor.page.locator('dt:text-is("This tab") + dd').textContent())?.trim() ?? 'none';
  await expect(waiting.state).toContainText(`The lease of ${name} ends in`);
  release();
  await expect(waiting.row('second')).toContainText('confirmed');
  await waiting.row('second').locator('summary').click();
  await expect(waiting.row('second')).toContainText('by another tab');
  await expect(sending.requests).toContainText('1 event (not seen here)');
});

test('events that the next page sends are confirmed after the back/forward cache', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await visitAndInspect(visitor);
  // The second failure is the answer to the request of the leaving page.
  await demo.fault({ mode: 'status', status: 503, retryAfter: '5', count: 2 });
  for (const n of upTo(3)) await visitor.clew('track', 'waits', { n });
  const { row, sum, state } = partsOf(page);
  await expect(sum).toContainText('3 queued');
  await expect(state).toContainText(/In IndexedDB\s*3/);
  await page.evaluate(() => {
    location.href = '/blank?next';
  });
  await page.waitForURL('**/blank?next');
  await visitor.load();
  await expect.poll(() => demo.events('waits')).toHaveLength(3);
  await goBack(page);
  await expect(sum).toHaveText('3 tracked = 3 delivered + 0 queued + 0 dropped');
  await expect(row('waits')).toContainText('confirmed by another page');
  await expect(state).toContainText(/In IndexedDB\s*0/);
});

/** In a worker: posts the longest time between two of its timers, in ms. */
const beat = () => {
  let longest = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    postMessage(longest);
  }, 10);
};

test('the totals add up during a burst of 10,000 events, and the page stays responsive', { tag: '@long' }, async ({
  visitor,
}) => {
  test.slow();
  await visitAndInspect(visitor);
  const { sum, rows, events } = partsOf(visitor.page);
  await expect(sum).toContainText('0 tracked');
  const watched = visitor.page.evaluate(async (beat) => {
    const inspector = document.querySelector('clew-inspector');
    const wrong: string[] = [];
    // The worker does nothing else, so the machine and not the page causes its longest gap.
    const worker = new Worker(URL.createObjectURL(new Blob([`(${beat})()`])));
    let idle = 0;
    worker.onmessage = ({ data }) => {
      idle = data;
    };
    let longest = 0;
    let last = performance.now();
    for (;;) {
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      const text = inspector?.shadowRoot?.querySelector('.sum')?.textContent ?? '';
      const [tracked = 0, delivered = 0, queued = 0, dropped = 0] = (text.match(/[\d,]+/g) ?? []).map(
        (part) => +part.replaceAll(',', ''),
      );
      if (tracked !== delivered + queued + dropped) wrong.push(text);
      if (delivered === 10_000) return { wrong, longest: longest - idle };
    }
  }, String(beat));
  await visitor.trackAndLeave('burst', 10_000, 'stay');
  const { wrong, longest } = await watched;
  expect(wrong).toEqual([]);
  expect(longest).toBeLessThan(1000);
  await expect(sum).toHaveText('10,000 tracked = 10,000 delivered + 0 queued + 0 dropped');
  // No more rows are drawn than can be in sight: the docked inspector is 400 px high.
  const drawn = await rows.count();
  expect(drawn).toBeGreaterThan(10);
  expect(drawn).toBeLessThan(25);
  await expect(events).toContainText('9,000 older events discarded. The totals still include them.');
  await events.getByRole('button', { name: 'Show 50 of 950 older' }).click();
  await expect(events.getByRole('button', { name: 'Show 50 of 900 older' })).toBeVisible();
  await events.evaluate((part) => part.scrollTo(0, part.scrollHeight));
  await expect(rows).toHaveCount(100);
  await events.evaluate((part) => part.scrollTo(0, 0));
  await expect(rows).toHaveCount(drawn);
});

test('at 100 events a second the inspector draws four times a second, and only rows in sight', {
  tag: '@long',
}, async ({ visitor }) => {
  await visitor.visit();
  const { page } = visitor;
  await inspect(page);
  // While its list grows, the inspector also draws because its size changes.
  for (let n = 0; n < 60; n++) await visitor.clew('track', 'before', { n });
  await expect(partsOf(page).row('before').first()).toContainText('confirmed');
  const { drawings, rows, most, seconds } = await page.evaluate(async () => {
    const root = document.querySelector('clew-inspector')?.shadowRoot as ShadowRoot;
    const list = root.querySelector('.events') as Element;
    let drawings = 0;
    let rows = 0;
    let most = 0;
    // The browser calls the observer's callback once for all changes of a task.
    const watching = new MutationObserver((changes) => {
      const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter(({ nodeName }) => nodeName === 'LI');
      if (added[0]) drawings++;
      rows += added.length;
      most = Math.max(most, root.querySelectorAll('*').length);
    });
    watching.observe(list, { childList: true });
    const begun = performance.now();
    for (let n = 0; n < 300; n++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      window.clew('track', 'often', { n });
    }
    const seconds = (performance.now() - begun) / 1000;
    watching.disconnect();
    return { drawings, rows, most, seconds };
  });
  expect(drawings).toBeGreaterThan(1);
  expect(drawings).toBeLessThanOrEqual(Math.ceil(seconds * 4) + 1);
  // Without that, each event has a row.
  expect(rows / drawings).toBeLessThan(25);
  // A row has about 14 elements.
  expect(most).toBeLessThan(700);
});

test('drawing an event reads no layout, and draws neither the chart nor other rows again', { tag: '@long' }, async ({
  visitor,
}) => {
  await visitor.visit();
  const { page } = visitor;
  await page.evaluate(async (file) => {
    const { inspect } = (await import(file)) as typeof Inspector;
    const counts: typeof window.counts = { computed: 0, rectangles: 0, heights: 0, texts: 0, payloads: 0 };
    const { getComputedStyle, setInterval } = window;
    window.getComputedStyle = (...args) => {
      counts.computed++;
      return getComputedStyle(...args);
    };
    const { getBoundingClientRect } = Element.prototype;
    Element.prototype.getBoundingClientRect = function () {
      counts.rectangles++;
      return getBoundingClientRect.call(this);
    };
    const { get } = Object.getOwnPropertyDescriptor(Element.prototype, 'clientHeight') ?? {};
    Object.defineProperty(Element.prototype, 'clientHeight', {
      get() {
        counts.heights++;
        return get?.call(this);
      },
    });
    // Chromium lays out the page before a canvas draws text.
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (...args) {
      counts.texts++;
      fillText.apply(this, args);
    };
    let emitTrace: (value: unknown) => void = () => {};
    let tracked = 0;
    const tracker = {
      on(signal: string, listener: typeof emitTrace) {
        if (signal === 'trace') emitTrace = listener;
        return () => {};
      },
      stats: () => ({ tracked, delivered: 0, queued: tracked, dropped: {} }),
    } as Inspector.Inspectable;
    // The chart is drawn once a second: this test is about what happens between.
    window.setInterval = (() => 0) as unknown as typeof setInterval;
    inspect(tracker);
    window.setInterval = setInterval;
    const payload = {
      toJSON() {
        counts.payloads++;
        return { n: 1 };
      },
    };
    window.counts = counts;
    window.emitTracked = (event) => {
      tracked++;
      emitTrace({ step: 'tracked', event: { uuid: event, event, payload } });
    };
    window.emitTracked('first');
  }, '/dist/inspector.js');
  const { row } = partsOf(page);
  await row('first').locator('summary').click();
  await expect(row('first').getByRole('region', { name: 'Payload' })).toHaveText('{ "n": 1 }');
  await expect(page.getByRole('separator', { name: 'Height' })).toHaveAttribute('aria-valuenow', '400');
  await expect(page.locator('clew-inspector canvas')).toBeVisible();
  const counted = await page.evaluate(async () => {
    const root = document.querySelector('clew-inspector')?.shadowRoot;
    const frame = () => new Promise(requestAnimationFrame);
    // The observers of sizes report in the frames after the first drawing.
    for (let n = 0; n < 3; n++) await frame();
    const before = { ...window.counts };
    for (let n = 0; n < 5; n++) {
      window.emitTracked(`event ${n}`);
      while (!root?.querySelector('.events .name')?.textContent?.includes(`event ${n}`)) await frame();
    }
    await frame();
    return Object.entries(window.counts).map(([name, count]) => [name, count - before[name as keyof typeof before]]);
  });
  expect(Object.fromEntries(counted)).toEqual({ computed: 0, rectangles: 0, heights: 0, texts: 0, payloads: 0 });
});

test('later events close no open row and take the focus from no row', async ({ visitor }) => {
  await visitAndInspect(visitor);
  const { row, rows, events } = partsOf(visitor.page);
  await visitor.clew('track', 'opened');
  await visitor.clew('track', 'focused');
  await row('opened').locator('summary').click();
  await row('focused').locator('summary').focus();
  await visitor.trackAndLeave('later', 100, 'stay');
  await expect(row('later')).toBeVisible();
  await expect(row('focused').locator('summary')).toBeFocused();
  await events.focus();
  await expect(rows.filter({ hasText: 'focused' })).toHaveCount(0);
  const more = events.getByRole('button', { name: /Show \d+ of \d+ older/ });
  for (const _ of upTo(2)) await more.click();
  await events.evaluate((part) => part.scrollTo(0, part.scrollHeight));
  await expect(row('opened').getByRole('region', { name: 'Payload' })).toBeVisible();
});

test('the exported file has all seen events, requests and errors', async ({ demo, visitor }) => {
  await visitAndInspect(visitor);
  const { page } = visitor;
  const { rows, requests } = partsOf(page);
  await visitor.clew('identify', 'ann@example.com', { name: 'Ann' });
  for (const n of upTo(3)) await visitor.clew('track', `step_${n}`, { n });
  await visitor.clew('track', '');
  await visitor.clew('flush');
  await expect(rows.filter({ hasText: 'confirmed' })).toHaveCount(5);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export JSON' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^clew-.*\.json$/);
  const seen = JSON.parse(await readFile(await download.path(), 'utf8'));

  expect(seen.stats).toEqual(await visitor.clew('stats'));
  expect(seen.visitor).toMatchObject({
    visitorId: await visitor.clew('correlationValue'),
    primaryKey: 'ann@example.com',
  });
  const names = await page.locator('clew-inspector .name').allTextContents();
  expect(seen.events.map(({ name }: { name: string }) => name || 'no name').reverse()).toEqual(names);
  const arrived = (await demo.events()).map(({ uuid }) => uuid);
  const delivered = seen.events.filter(
    ({ end, name }: Record<string, string>) => end === 'delivered' && name !== 'setProperties',
  );
  expect(delivered.map(({ uuid }: { uuid: string }) => uuid).toSorted()).toEqual(arrived.toSorted());
  expect(seen.requests).toHaveLength(await requests.getByRole('listitem').count());
  expect(seen.errors.map(({ message }: { message: string }) => message)).toEqual([
    'clew: track: expected a name, and not $identify',
  ]);
});

test('closing leaves no element, style, timer or listener behind, and the tracker continues', async ({
  demo,
  visitor,
}) => {
  await visitor.visit();
  const left = await visitor.page.evaluate(async (file) => {
    const { inspect } = (await import(file)) as typeof Inspector;
    const counts = { listeners: 0, timers: 0, signals: 0 };
    const { addEventListener, removeEventListener } = EventTarget.prototype;
    const isPage = (target: EventTarget) => !(target instanceof Element) || target.isConnected;
    EventTarget.prototype.addEventListener = function (...args: Parameters<typeof addEventListener>) {
      if (isPage(this)) counts.listeners++;
      return addEventListener.apply(this, args);
    };
    EventTarget.prototype.removeEventListener = function (...args: Parameters<typeof removeEventListener>) {
      if (isPage(this)) counts.listeners--;
      return removeEventListener.apply(this, args);
    };
    const { setInterval, clearInterval } = window;
    Object.assign(window, {
      setInterval: (...args: Parameters<typeof setInterval>) => {
        counts.timers++;
        return setInterval(...args);
      },
      clearInterval: (id: number) => {
        counts.timers--;
        clearInterval(id);
      },
    });
    const html = document.documentElement.outerHTML;
    const globals = Object.keys(window).length;
    const tracker = {
      on: (...listening: [string, () => void]) => {
        counts.signals++;
        const off = window.clew('on', ...listening) as () => void;
        return () => {
          counts.signals--;
          off();
        };
      },
      stats: () => window.clew('stats'),
    } as Inspector.Inspectable;
    const close = inspect(tracker);
    const during = { ...counts };
    window.clew('track', 'during');
    const frame = () => new Promise(requestAnimationFrame);
    const inspector = document.querySelector('clew-inspector');
    while (!inspector?.shadowRoot?.querySelector('canvas')) await frame();
    close();
    close();
    await frame();
    await frame();
    return {
      during,
      counts,
      isSame: document.documentElement.outerHTML === html,
      styles: document.adoptedStyleSheets.length,
      globals: Object.keys(window).length - globals,
    };
  }, '/dist/inspector.js');
  expect(left.during).toMatchObject({ timers: 1, signals: 4 });
  expect(left).toMatchObject({ isSame: true, styles: 0, globals: 0 });
  expect(left.counts).toMatchObject({ timers: 0, signals: 0 });
  expect(left.counts.listeners).toBeLessThanOrEqual(0);
  await visitor.clew('track', 'after');
  await expect.poll(async () => (await demo.events()).map(({ event }) => event)).toEqual(['during', 'after']);
});

/** The HTML to paste, from the documentation. */
const documented = async (): Promise<string> => {
  const text = await readFile(join(import.meta.dirname, '../docs/inspector.md'), 'utf8');
  return /```html\n(.+?)```/s.exec(text)?.[1] ?? '';
};

test('the documented tag loads and opens the inspector only at `?clew-inspect`', { tag: '@long' }, async ({
  demo,
  site,
  visitor: { page },
}) => {
  const tag = (await documented())
    .replaceAll('/assets/', '/dist/')
    .replace('/* contents of dist/stub.js */', await stub());
  site.pages['/shop'] = { html: `<!doctype html><html lang="en"><title>Shop</title>${tag}` };
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  await page.goto(`${site.address}/shop`);
  await page.evaluate(() => window.clew('track', 'unseen'));
  await expect.poll(() => demo.events('unseen')).toHaveLength(1);
  expect(loaded.filter((url) => url.includes('inspector'))).toEqual([]);
  await expect(page.locator('clew-inspector')).toHaveCount(0);

  await page.goto(`${site.address}/shop?clew-inspect`);
  const { row } = partsOf(page);
  await expect(page.getByRole('heading', { name: 'clew inspector' })).toBeVisible();
  await page.evaluate(() => window.clew('track', 'seen'));
  await expect(row('seen')).toContainText('confirmed');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.locator('clew-inspector')).toHaveCount(0);
});

test('`inspectOnRequest` opens the inspector only at `?clew-inspect`', async ({ demo, visitor: { page } }) => {
  const ask = (query: string) =>
    page.goto(`${demo.address}/blank${query}`).then(() =>
      page.evaluate(async (file) => {
        const { inspectOnRequest } = (await import(file)) as typeof Inspector;
        const tracker = { on: () => () => {}, stats: () => ({ tracked: 0, delivered: 0, queued: 0, dropped: {} }) };
        const close = inspectOnRequest(tracker);
        const isOpen = !!document.querySelector('clew-inspector');
        close?.();
        return [typeof close, isOpen, !!document.querySelector('clew-inspector')];
      }, '/dist/inspector.js'),
    );
  expect(await ask('')).toEqual(['undefined', false, false]);
  expect(await ask('?other')).toEqual(['undefined', false, false]);
  expect(await ask('?a=1&clew-inspect')).toEqual(['function', true, false]);
});

test('a tracker has one docked inspector, and those of two trackers are beside each other', async ({ visitor }) => {
  await visitAndInspect(visitor);
  const { page } = visitor;
  const { width = 0 } = page.viewportSize() ?? {};
  await page.evaluate(async (file) => {
    const { inspect } = (await import(file)) as typeof Inspector;
    const tracker = { on: () => () => {}, stats: () => ({ tracked: 0, delivered: 0, queued: 0, dropped: {} }) };
    for (const one of [tracker, tracker, window.clew]) inspect(one);
  }, '/dist/inspector.js');
  await expect(page.locator('clew-inspector')).toHaveCount(2);
  const first = page.getByRole('region', { name: 'clew inspector', exact: true });
  const second = page.getByRole('region', { name: 'clew inspector 2' });
  expect(await first.boundingBox()).toMatchObject({ x: 0, width: width / 2 });
  expect(await second.boundingBox()).toMatchObject({ x: width / 2, width: width / 2 });
  await second.getByRole('button', { name: 'Close' }).click();
  await expect(second).toHaveCount(0);
  await expect.poll(() => first.boundingBox()).toMatchObject({ x: 0, width });
});

test('an inspector opened before the bundle loads shows later events', { tag: '@long' }, async ({ demo, visitor }) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank`);
  await page.addScriptTag({ content: await stub() });
  await inspect(page);
  const { row, sum } = partsOf(page);
  await expect(sum).toContainText('0 tracked');
  // The call's promise settles once the bundle has loaded.
  await page.evaluate(() => void window.clew('track', 'early', { n: 1 }));
  await visitor.load();
  await expect(row('early')).toContainText('confirmed');
  await expect(sum).toHaveText('1 tracked = 1 delivered + 0 queued + 0 dropped');
  await row('early').locator('summary').click();
  await expect(row('early').getByRole('list', { name: 'Steps' })).toHaveText(/Tracked.*Stored.*Sent.*Confirmed/s);
});

test('an inspector closed before the bundle loads removes its calls from the stub', { tag: '@long' }, async ({
  demo,
  visitor,
}) => {
  const { page } = visitor;
  await page.goto(`${demo.address}/blank`);
  await page.addScriptTag({ content: await stub() });
  await inspect(page);
  const remembered = () => page.evaluate(() => (window.clew as { q?: unknown[] }).q?.length);
  expect(await remembered()).toBeGreaterThan(0);
  await page.evaluate(() => window.closeInspector());
  expect(await remembered()).toBe(0);
});

test('an inspector opened late has the correct totals and names unknown data', { tag: '@long' }, async ({
  visitor,
}) => {
  await visitor.visit();
  await visitor.trackAndLeave('before', 3, 'stay');
  // The page reads the answer after the service has stored the events. An answer from then on shows the inspector the visitor id.
  await expect.poll(() => visitor.clew('stats')).toMatchObject({ delivered: 3 });
  await inspect(visitor.page);
  const { sum, events, state, row } = partsOf(visitor.page);
  await expect(sum).toHaveText('3 tracked = 3 delivered + 0 queued + 0 dropped');
  await expect(events).toContainText('3 events tracked before the inspector opened.');
  await expect(events).not.toContainText('still queued');
  await expect(state).toContainText('unknown until the next report, or until a new event is confirmed');
  await visitor.clew('track', 'since');
  await expect(row('since')).toContainText('confirmed');
  await expect(state).toContainText((await visitor.clew('correlationValue')) as string);
  await expect(sum).toHaveText('4 tracked = 4 delivered + 0 queued + 0 dropped');
});

test('after stop() the inspector shows queued events, and promises no request', async ({ demo, visitor }) => {
  await demo.fault({ mode: 'status', status: 503 });
  await visitAndInspect(visitor);
  const { page } = visitor;
  await page.evaluate(() => {
    window.clew('track', 'left');
    window.clew('stop');
  });
  const { row, state } = partsOf(page);
  await expect(row('left')).toContainText('queued');
  await expect(page.locator('clew-inspector .chip')).toHaveText('events queued');
  await expect(state).not.toContainText('are sent after the flush interval.');
});

test('events held until consent are in memory only, and a refusal drops them as consent', { tag: '@long' }, async ({
  visitor,
}) => {
  await visitAndInspect(visitor, { consent: 'required' });
  const { state, row } = partsOf(visitor.page);
  await visitor.clew('track', 'asked');
  await expect(state).toContainText(/In memory only\s*1\s*asked/);
  await expect(state).toContainText('unknown until the next report, or until a new event is confirmed');
  await visitor.clew('consent', false);
  await expect(row('asked')).toContainText('dropped: consent');
  await expect(state).toContainText('refused: nothing is stored or sent');
});

test('a page that adds to `Object.prototype` has an inspector with its chart', async ({ visitor }) => {
  const { page } = visitor;
  await page.addInitScript(() => {
    Object.assign(Object.prototype, { cfg: { a: 1 }, each: () => {}, retryAt: 9e15, end: 'x' });
  });
  await visitAndInspect(visitor);
  const { row, requests } = partsOf(page);
  await visitor.clew('track', 'signup');
  await expect(row('signup')).toContainText('confirmed');
  await expect(requests).not.toContainText('Retry');
  await expect(page.locator('clew-inspector canvas')).toBeVisible();
});

test('the element fills its parent, keeps a tracker set before its module loads, and dispatches close', {
  tag: '@long',
}, async ({ visitor }) => {
  await visitor.visit();
  const { page } = visitor;
  await page.evaluate(async (file) => {
    const panel = document.createElement('div');
    Object.assign(panel.style, { position: 'fixed', inset: '0 0 0 auto', inlineSize: '480px' });
    const inspector = document.createElement('clew-inspector');
    inspector.tracker = window.clew;
    inspector.addEventListener('close', () => {
      document.title = 'closed';
    });
    panel.append(inspector);
    document.body.append(panel);
    await import(file);
  }, '/dist/inspector.js');
  await visitor.clew('track', 'seen');
  await expect(partsOf(page).row('seen')).toContainText('confirmed');
  const { height } = page.viewportSize() ?? {};
  expect(await page.locator('clew-inspector').boundingBox()).toMatchObject({ width: 480, height });
  await expect(page.getByRole('button', { name: 'Collapse' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.locator('clew-inspector')).toHaveCount(0);
  await expect(page).toHaveTitle('closed');
});

test('in quirks mode, the handle follows the pointer, and the greatest height is the window', async ({
  site,
  visitor: { page },
}) => {
  site.pages['/quirks'] = {
    html: '<title>Quirks</title><p style="height: 5000px">Long<script src="/dist/clew.js" data-base-url="/clew"></script>',
  };
  await page.goto(`${site.address}/quirks`);
  await inspect(page);
  const { height = 0 } = page.viewportSize() ?? {};
  const handle = page.getByRole('separator', { name: 'Height' });
  await handle.hover();
  await page.mouse.down();
  await page.mouse.move(300, 200);
  await page.mouse.up();
  await expect.poll(async () => (await page.locator('clew-inspector').boundingBox())?.y).toBe(200);
  await expect(handle).toHaveAttribute('aria-valuemax', `${height}`);
});

test('a strict policy needs only `lit-html` for Trusted Types', async ({ site, visitor }) => {
  const { page } = visitor;
  const policy =
    "default-src 'none'; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types lit-html";
  const html =
    '<!doctype html><html lang="en"><title>Strict</title><script src="/dist/clew.js" data-base-url="/clew"></script>';
  site.pages['/strict'] = { html, headers: { 'Content-Security-Policy': policy } };
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      window.violations.push(`${violatedDirective} ${blockedURI}`);
    });
  });
  await page.goto(`${site.address}/strict`);
  await inspect(page);
  const { row } = partsOf(page);
  await visitor.clew('track', 'strict', { n: 1 });
  await visitor.clew('flush');
  await row('strict').locator('summary').click();
  await page.getByRole('separator').press('ArrowUp');
  expect(await page.evaluate(() => window.violations)).toEqual([]);
  expect(await page.locator('clew-inspector').evaluate((element) => getComputedStyle(element).position)).toBe('fixed');
});

test('the keyboard changes height and tabs, and a collapsed inspector shows the totals', { tag: '@long' }, async ({
  visitor,
}) => {
  await visitAndInspect(visitor);
  const { page } = visitor;
  const inspector = page.locator('clew-inspector');
  const height = async () => (await inspector.boundingBox())?.height ?? 0;
  const { sum, events } = partsOf(page);
  await expect(events).toBeVisible();
  const before = await height();
  await page.getByRole('separator', { name: 'Height' }).press('ArrowUp');
  await expect.poll(height).toBe(before + 32);
  await page.getByRole('button', { name: 'Collapse' }).press('Enter');
  await expect(events).toBeHidden();
  await expect(sum).toBeVisible();
  await expect.poll(height).toBeLessThan(60);
  await page.getByRole('button', { name: 'Expand' }).press('Enter');
  await expect.poll(height).toBe(before + 32);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('tab', { name: 'Events' }).press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'Requests' })).toBeFocused();
  await expect(page.getByRole('tabpanel', { name: 'Requests' })).toBeVisible();
  await page.getByRole('tab', { name: 'Requests' }).press('ArrowRight');
  await expect(page.getByRole('tabpanel', { name: 'State' })).toContainText('Lease');
});

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1440, 390]) {
    test(`axe finds no fault and no overflow, ${colorScheme}, ${width} px wide`, { tag: '@long' }, async ({
      demo,
      visitor,
    }) => {
      const { page } = visitor;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await visitAndInspect(visitor);
      await visitor.clew('track', 'signup', { plan: 'pro', note: 'a-word-that-is-very-long-'.repeat(20) });
      await visitor.clew('track', 'a_name_that_is_longer_than_any_column_will_ever_be_on_any_screen');
      await visitor.clew('track', '');
      await visitor.clew('flush');
      await demo.fault({ mode: 'status', status: 503, retryAfter: '60', count: 1 });
      await visitor.clew('track', 'waiting');
      await visitor.clew('flush');
      const { row } = partsOf(page);
      await row('signup').locator('summary').click();
      for (const tab of width === 390 ? ['Events', 'Requests', 'State'] : ['']) {
        if (tab) await page.getByRole('tab', { name: tab }).click();
        const { violations } = await new AxeBuilder({ page }).include('clew-inspector').analyze();
        expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
        const overflow = await page
          .locator('clew-inspector')
          .evaluate(
            (element) =>
              [...(element.shadowRoot?.querySelectorAll('.part') ?? [])].filter(
                (part) => part.scrollWidth > part.clientWidth,
              ).length,
          );
        expect(overflow).toBe(0);
      }
    });
  }
}

declare global {
  interface Window {
    closeInspector(): void;
    counts: Record<'computed' | 'rectangles' | 'heights' | 'texts' | 'payloads', number>;
    emitTracked(event: string): void;
    violations: string[];
  }
}
