import { before } from './page.ts';

/**
 * A visit's query for a page that comes so many minutes later, as far as it can know: the lease of a page that ended
 * while sending has run out meanwhile.
 */
export const later = (minutes: number): string =>
  before((ms) => {
    const { now } = Date;
    Date.now = () => now() + ms;
  }, minutes * 60_000);
