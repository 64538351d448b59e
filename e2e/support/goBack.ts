import type { Page } from '@playwright/test';

/**
 * Replaces `page.goBack()`, which waits for a `load` that a page from the back/forward cache never fires. The page may be gone
 * before `evaluate` returns, which is no error.
 */
export const goBack = (page: Page): Promise<void> => page.evaluate(() => history.back()).catch(() => {});
