/** State that the pages of a test share. `tidyPages.ts` clears it after each test. */

/** Stop the trackers that a test has started. */
export const stops: (() => void)[] = [];
/** localStorage by host, as all pages of a test share it. */
export const storages = new Map<string, Record<string, string>>();
/** Cookies by name and domain. Like a browser, the pages accept no cookie for a domain without a dot. */
export const cookies = new Map<string, { domain: string; name: string; text: string }>();
/** The texts that pages have written into `document.cookie`. */
export const cookiesWritten: string[] = [];
