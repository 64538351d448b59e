import { before } from './page.ts';

/**
 * A visit's query for a page whose clock is `minutes` ahead. For this page, the lease of a page that ended while sending has
 * ended, too.
 */
export const later = (minutes: number): string =>
  before((ms) => {
    const { now } = Date;
    Date.now = () => now() + ms;
  }, minutes * 60_000);
