/** Where a page's second tracker sends to, at the service or at its relay. */
export const OTHER = '/other';

/** Whether the address is one of the second tracker, or of its relay. */
export const isOther = (url: string): boolean => /^(https:\/\/[^/]+)?\/other\//.test(url);
