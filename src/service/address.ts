/** The service's address and key, as `createRelay` and `createService` take them. */

export const ADDRESS = 'an http or https address without a query';
export const KEY = 'visible ASCII characters';

export const isAddress = (value: unknown): boolean => {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, username, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && !username && !search && !hash;
};

/** Whether a header can carry the key. */
export const isKey = (value: unknown): boolean =>
  typeof value === 'string' && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);

/** The text without the key, as it is and as JSON writes it: an error page may echo the request's headers. */
export const withoutKey = (text: string, apiKey: string): string =>
  apiKey ? text.replaceAll(apiKey, '…').replaceAll(JSON.stringify(apiKey).slice(1, -1), '…') : text;
