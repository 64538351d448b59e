import type { Page } from '@playwright/test';

/**
 * `page.goBack()` waits for a load that a page from the back/forward cache does not have; and this page may be gone before
 * it could answer.
 */
export const goBack = (page: Page): Promise<void> => page.evaluate(() => history.back()).catch(() => {});
