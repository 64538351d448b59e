import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type BrowserContext, test as base, type Page, type Request } from '@playwright/test';
import type { ListedEvent } from '../../demo/collector/listings.ts';
import { type Demo, startDemo } from './demo.ts';
import { expect } from './expect.ts';
import { loadTag } from './tag.ts';

/** `data-` attributes of the script tag, as in `dataset`. */
type TagOptions = Record<string, string>;

/** The actions of a visitor, on real pages of the demo's origin. */
export interface Visitor {
  readonly page: Page;
  /** Opens the blank page and puts the script tag into it. Resolves once the bundle has run. */
  visit(options?: TagOptions): Promise<void>;
  /** Puts the script tag into the current page. */
  load(options?: TagOptions): Promise<void>;
  /** Calls `clew(…)` in the page. */
  clew(method: string, ...args: unknown[]): Promise<unknown>;
  /** Calls `clew('track', name, { n })` for n from 0 on and leaves the page as `how` states, in one task. */
  trackAndLeave(name: string, count: number, how: 'navigate' | 'reload' | 'close' | 'stay'): Promise<void>;
}

interface Fixtures {
  demo: Demo;
  visitor: Visitor;
  /** A visitor with a page of their own in this browser context. */
  newVisitor(context: BrowserContext): Promise<Visitor>;
}

const collectErrors = (page: Page, errors: string[]) => {
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // Chromium itself logs every request that fails. Only errors of the page's scripts count.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
};

const createVisitor = (page: Page, address: string): Visitor => {
  const load = (options: TagOptions = {}) => loadTag(page, { flushInterval: '200', ...options });
  return {
    page,
    load,
    async visit(options) {
      await page.goto(`${address}/blank`);
      await load(options);
    },
    clew: (...call) => page.evaluate((args) => window.clew(...args), call as [string, ...unknown[]]),
    async trackAndLeave(name, count, how) {
      // Chromium may take minutes to close a context while one of its pages reloads.
      const next = how === 'navigate' || how === 'reload' ? page.waitForEvent('load') : undefined;
      // The page may be gone before `evaluate` returns.
      const gone = how === 'stay' ? undefined : page.evaluate(trackInOneTask, { name, count, how }).catch(() => {});
      if (how === 'stay') await page.evaluate(trackInOneTask, { name, count, how });
      if (how === 'close') await page.close();
      await gone;
      await next;
    },
  };
};

const trackInOneTask = ({ name, count, how }: { name: string; count: number; how: string }) => {
  for (let n = 0; n < count; n++) window.clew('track', name, { n });
  if (how === 'navigate') location.href = '/blank?next';
  if (how === 'reload') location.reload();
};

export const test = base.extend<Fixtures, { server: Demo }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern
    async ({}, use) => {
      const server = await startDemo();
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
  demo: async ({ server }, use) => {
    await server.fault({ mode: 'none' });
    await server.clear();
    await use(server);
  },
  newVisitor: async ({ demo }, use) => {
    const errors: string[] = [];
    await use(async (context) => {
      const page = await context.newPage();
      collectErrors(page, errors);
      return createVisitor(page, demo.address);
    });
    expect(errors, 'errors that reached a page').toEqual([]);
  },
  visitor: async ({ context, newVisitor }, use) => use(await newVisitor(context)),
});

/** A request's body, inflated. */
export const bodyOf = (request: Request): string => {
  const body = request.postDataBuffer() ?? Buffer.alloc(0);
  return (request.headers()['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
};

/** The stub as it is pasted into a page. */
export const stub = () => readFile(join(import.meta.dirname, '../../dist/stub.js'), 'utf8');

/** The numbers that `trackAndLeave` gave events of this name, in the order in which they arrived. */
export const numbers = (events: ListedEvent[]): unknown[] => events.map(({ payload }) => (payload as { n: number }).n);

/** 0, 1, … count - 1 */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

export { expect };
