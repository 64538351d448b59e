import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { expect, numbers, stub, test, upTo } from './support/test.ts';

test('without browser storage every event arrives, and the refusal is reported once', { tag: '@promise' }, async ({
  demo,
  launchOptions,
  newVisitor,
}) => {
  const profile = await mkdtemp(join(tmpdir(), 'clew-profile-'));
  await mkdir(join(profile, 'Default'));
  // The setting "block all cookies": IndexedDB fails to open and localStorage throws.
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

  // The page listens from its first line on, as a page with the stub can.
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

test('deletion of the database by the site is not blocked, and its queued events are sent', {
  tag: '@promise',
}, async ({ demo, context, visitor }) => {
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
        // A running transaction blocks the deletion for a moment.
        request.onblocked = () => setTimeout(reject, 5000, new Error('blocked'));
      }),
  );
  await context.setOffline(false);
  await expect.poll(async () => numbers(await demo.events('kept in memory'))).toEqual(upTo(20));
});

test('events tracked while a deleted database reopens stay in the journal until they are stored', {
  tag: ['@long', '@promise'],
}, async ({ visitor }) => {
  await visitor.visit({ flushInterval: '600000' });
  await visitor.clew('flush');
  const journaled = await visitor.page.evaluate(async () => {
    const look = () => Object.entries(localStorage).filter(([key, text]) => /clew.page/.test(key) && /late/.test(text));
    const request = indexedDB.deleteDatabase('clew');
    await new Promise((resolve) => {
      request.onsuccess = resolve;
    });
    const isStored = new Promise((resolve) =>
      window.clew('on', 'trace', ({ step }: { step: string }) => step === 'stored' && resolve(true)),
    );
    window.clew('track', 'late');
    await Promise.resolve();
    const atOnce = look().length;
    await isStored;
    return [atOnce, look().length];
  });
  expect(journaled).toEqual([1, 0]);
});
