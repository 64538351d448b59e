import type { TrackedEvent } from './prepare.js';

/** Names of query parameters whose values are nobody's business: as parts of a word, and as words of their own. */
const SECRET_NAMES =
  /token|secret|passw|pwd|credential|signature|sess(ion|id)|jwt|o?auth(?!or)|apikey|e-?mail|(^|[^a-z])(key|code|sig|sid|pin|otp|ticket|mail)s?($|[^a-z])/i;
/** An e-mail address, also with its `@` encoded; bounded, so that no text takes long. */
const EMAIL = /[^\s/?#&=:;@]{1,64}(@|%40)([^\s/?#&=:;@.%]{1,63}\.){1,8}[a-z]{2,}/gi;
/** Has a scheme, begins like a path, or has a parameter. */
const URL_LIKE = /:\/\/|^\.{0,2}\/|^mailto:|[?#&][^\s=?&#]+=/i;
/** `name=value` behind what introduces it, in the query or in a fragment that is used like one. */
const PARAMETER = /([?#&;])([^=?#&;]+)=([^#&;]*)/g;
/** What begins like a JSON Web Token. */
const JWT = /^eyJ[\w-]+\./;
const REDACTED = 'redacted';
/** How many URLs within parameters of URLs are looked into; what lies deeper goes as a whole. */
const MOST_NESTED = 4;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const redactUrl = (url: string, isSecret: (name: string) => boolean, depth = 0): string =>
  url
    .replace(/\/\/[^/?#@]*@/, '//')
    .replace(PARAMETER, (whole, before: string, name: string, value: string) => {
      const said = decode(value);
      const isNested = URL_LIKE.test(said);
      if (isSecret(decode(name)) || JWT.test(said) || (isNested && depth === MOST_NESTED))
        return `${before}${name}=${value && REDACTED}`;
      const safe = isNested ? redactUrl(said, isSecret, depth + 1) : said.replace(EMAIL, REDACTED);
      return safe === said ? whole : `${before}${name}=${encodeURIComponent(safe)}`;
    })
    .replace(EMAIL, REDACTED);

/**
 * Creates a `beforeSend` that removes secrets from the URLs in a payload, at any depth and also within longer text. It replaces
 * e-mail addresses, JSON Web Tokens, and the values of parameters with secret names by `redacted`. It reads parameters in the
 * query and in a fragment of the same form. It removes user names and passwords from URLs, and changes no other text.
 *
 * @param secretNames matches the names of secret parameters; default a list with `token`, `key`, `password`, `auth`, `session`,
 * `signature`, `code`, `email` and similar names
 * @example createTracker({ baseUrl: '/clew', beforeSend: redactUrls() })
 */
export const redactUrls = (secretNames: RegExp = SECRET_NAMES): ((event: TrackedEvent) => TrackedEvent) => {
  // `search` begins at the beginning also where the expression is global. An `inviteKey` is an `invite_Key`, too.
  const isSecret = (name: string) =>
    name.search(secretNames) >= 0 || name.replace(/([a-z\d])([A-Z])/g, '$1_$2').search(secretNames) >= 0;
  const redact = (word: string) => (URL_LIKE.test(word) ? redactUrl(word, isSecret) : word);
  const clean = (_: string, value: unknown) => (typeof value === 'string' ? value.replace(/\S+/g, redact) : value);
  return ({ event, payload }) => ({
    event,
    payload: payload === undefined ? payload : JSON.parse(JSON.stringify(payload), clean),
  });
};
