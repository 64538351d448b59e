/** The service's address and key, as `createRelay` and `createService` take them. */

export const ADDRESS = 'an http or https address without a query';
export const KEY = 'visible ASCII characters';

export const isAddress = (value: unknown): boolean => {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  // A `URL` trims the text, and hides an empty query. Paths that are joined to either would be lost.
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && !username && !password && !/[?#\s]/.test(value);
};

/** Whether a header can carry the key. */
export const isKey = (value: unknown): boolean =>
  typeof value === 'string' && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value);

/** The text without the key, as it is and as JSON writes it: an error page may echo the request's headers. */
export const withoutKey = (text: string, apiKey: string): string =>
  text && apiKey ? [apiKey, JSON.stringify(apiKey).slice(1, -1)].reduce(withoutSecret, text) : text;

/** Also without a part of it at the end, because only the beginning of a long answer is read. */
const withoutSecret = (text: string, secret: string): string => {
  const rest = text.replaceAll(secret, '…');
  for (let length = secret.length - 1; length > 3; length--)
    if (rest.endsWith(secret.slice(0, length))) return `${rest.slice(0, -length)}…`;
  return rest;
};
