import type { Page } from '@playwright/test';
import { goBack } from '../../support/goBack.ts';
import type { Tab } from './engine.ts';

/** A tab over Playwright's page. */
export const createTab = (page: Page): Tab & { page: Page } => ({
  page,
  goto: async (url) => void (await page.goto(url)),
  evaluate: <R, A>(fn: (arg: A) => R | Promise<R>, arg?: A) =>
    page.evaluate(fn as (arg: unknown) => R | Promise<R>, arg as unknown),
  click: (selector) => page.click(selector),
  back: () => goBack(page),
  close: () => page.close(),
  activate: () => page.bringToFront(),
});
