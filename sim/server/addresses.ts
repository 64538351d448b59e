/** The prefix of the addresses to which a page's second tracker sends, at the service or at its relay. */
export const OTHER = '/other';

/** Whether the address is one of the second tracker, or of its relay. */
export const isOther = (url: string): boolean => /^(https:\/\/[^/]+)?\/other\//.test(url);
