import { expect as base } from '@playwright/test';

/** Playwright waits 100, 250, 500 and then 1000 ms between two looks, and has no option that changes this for all polls. */
const INTERVALS = [50];

const poll: typeof base.poll = (actual, options) =>
  base.poll(actual, { intervals: INTERVALS, ...(typeof options === 'string' ? { message: options } : options) });

/** Playwright's `expect`, whose `poll` looks every 50 ms. */
export const expect: typeof base = new Proxy(base, {
  get: (target, name, receiver) => (name === 'poll' ? poll : Reflect.get(target, name, receiver)),
});
