import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { expect, numbers, stub, test, upTo } from './support/test.ts';

test('storage that the browser refuses costs nothing but durability, and is told once', async ({
  demo,
  launchOptions,
  newVisitor,
}) => {
  const profile = await mkdtemp(join(tmpdir(), 'clew-profile-'));
  await mkdir(join(profile, 'Default'));
  // What "block all cookies" sets: IndexedDB fails to open and localStorage throws.
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, launchOptions);
  const visitor = await newVisitor(context);
  await visitor.page.goto(`${demo.address}/blank`);
  expect(
    await visitor.page.evaluate(
      () =>
        new Promise((resolve) => {
          try {
            const request = indexedDB.open('probe');
            request.onsuccess = () => resolve('open');
            request.onerror = () => resolve('refused');
          } catch {
            resolve('refused');
          }
        }),
    ),
  ).toBe('refused');

  // Listening from the first line of the page on, as a page with the stub can.
  await visitor.page.addScriptTag({ content: await stub() });
  await visitor.page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    window.clew('on', 'error', (error: Error) => heard.push(error.message));
  });
  await visitor.load();
  await visitor.trackAndLeave('unstored', 50, 'stay');
  await visitor.clew('identify', 'ann@example.com');
  await expect.poll(() => demo.events('$identify')).toHaveLength(1);
  expect(numbers(await demo.events('unstored'))).toEqual(upTo(50));
  expect(await visitor.page.evaluate(() => (window as unknown as { heard: string[] }).heard)).toEqual([
    expect.stringContaining('no storage'),
  ]);
  await visitor.trackAndLeave('left', 50, 'navigate');
  await expect.poll(async () => numbers(await demo.events('left'))).toEqual(upTo(50));
  await context.close();
  await rm(profile, { recursive: true, force: true });
});

test('a database that the site deletes is not blocked, and what was in it is still sent', async ({
  demo,
  context,
  visitor,
}) => {
  await visitor.visit();
  await visitor.clew('correlationValue');
  await context.setOffline(true);
  await visitor.trackAndLeave('kept in memory', 20, 'stay');
  await visitor.clew('flush');
  await visitor.page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.deleteDatabase('clew');
        request.onsuccess = () => resolve();
        request.onerror = () => reject(request.error);
        request.onblocked = () => reject(new Error('blocked'));
      }),
  );
  await context.setOffline(false);
  await expect.poll(async () => numbers(await demo.events('kept in memory'))).toEqual(upTo(20));
});

test('what is tracked while a deleted database is opened anew is carried in localStorage until it is stored', async ({
  visitor,
}) => {
  await visitor.visit({ flushInterval: '600000' });
  await visitor.clew('flush');
  const carried = await visitor.page.evaluate(async () => {
    const look = () =>
      Object.entries(localStorage).filter(([key, text]) => /clew.items/.test(key) && /late/.test(text));
    const request = indexedDB.deleteDatabase('clew');
    await new Promise((resolve) => {
      request.onsuccess = resolve;
    });
    const isStored = new Promise((resolve) =>
      window.clew('on', 'trace', ({ step }: { step: string }) => step === 'stored' && resolve(true)),
    );
    window.clew('track', 'late');
    const atOnce = look().length;
    await isStored;
    return [atOnce, look().length];
  });
  expect(carried).toEqual([1, 0]);
});

test('with consent required nothing is written and nothing is sent before the answer', async ({ demo, visitor }) => {
  await visitor.visit({ consent: 'required' });
  const requests: string[] = [];
  visitor.page.on('request', (request) => requests.push(request.url()));
  await visitor.trackAndLeave('asked', 3, 'stay');
  await visitor.clew('flush');
  const written = () =>
    visitor.page.evaluate(async () => [
      ...(await indexedDB.databases()).map(({ name }) => name),
      ...Object.keys(localStorage),
    ]);
  expect(await written()).toEqual([]);
  expect(requests).toEqual([]);
  expect(await visitor.clew('stats')).toMatchObject({ tracked: 3, queued: 3 });

  await visitor.clew('consent', true);
  await expect.poll(async () => numbers(await demo.events('asked'))).toEqual(upTo(3));
});

test('a refusal erases thread and queue, drops what follows, and says so', async ({ demo, context, visitor }) => {
  await visitor.visit();
  const thread = await visitor.clew('correlationValue');
  await context.setOffline(true);
  await visitor.trackAndLeave('refused', 3, 'stay');
  await visitor.clew('flush');
  await visitor.clew('consent', false);
  await context.setOffline(false);
  await visitor.clew('track', 'after refusal');
  expect(await visitor.clew('stats')).toEqual({ tracked: 4, delivered: 0, queued: 0, dropped: { consent: 4 } });
  await visitor.page.waitForFunction(async () => (await indexedDB.databases()).length === 0);
  expect(await visitor.page.evaluate(() => Object.keys(localStorage))).toEqual([]);

  await visitor.visit();
  expect(await visitor.clew('correlationValue')).not.toBe(thread);
  await visitor.clew('track', 'anew');
  await expect.poll(() => demo.events('anew')).toHaveLength(1);
  expect(await demo.events()).toHaveLength(1);
});
