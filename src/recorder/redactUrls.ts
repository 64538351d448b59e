import type { TrackedEvent } from './prepare.js';

/** Names of parameters with secret values: as parts of a word, and as words of their own. */
const SECRET_NAMES =
  /token|secret(?!ar)|pass(w|code|phrase|key)|pwd|pswd|credential|signature|sess(ion|id)|jwt|o?auth(?!or(?!i[sz]))|bearer|[cx]srf|saml|apikey|(access|login|reset|security|verification)code|e-?mail|(^|[^a-z])(key|code|sig|sid|pass|pw|pin|[2mt]fa|t?otp|ticket|mail)s?($|[^a-z])/i;
/** Has a scheme, begins like a path, a query or a fragment, or has a parameter or a token as a part of its path. */
const URL_LIKE = /:\/\/|^\.{0,2}\/|^mailto:|^[?#]|[?#&][^\s=?&#]+=|\/eyJ/i;
// Each separator may be encoded, also more than once: `?` is `%3F`, `%253F` and so on. No expression takes long for any text.
/** `?name=` or `;name=`: the character before the name, the name, and how often its `=` was encoded again. */
const PARAMETER = /([?#&;]|%(?:25)*(?:3F|23|26|3B))((?:(?!%(?:25)*(?:3F|23|26|3B|3D))[^=?#&;])+)(?:=|%((?:25)*)3D)/gi;
/** The end of a value, and how often it was encoded again. */
const END = /[#&]|%((?:25)*)(?:23|26)/gi;
/** The same for a parameter of a path. */
const PATH_END = /[#&;?]|%((?:25)*)(?:23|26|3B|3F)/gi;
/** A user name and a password in a URL, and in one that is encoded. */
const USER = /(\/\/)[^/?#]*@|((?:%(?:25)*2F){2})(?:(?!%(?:25)*(?:2F|3F|23|26))[^/?#&])*(?:@|%(?:25)*40)/gi;
/** The character or code in front of an e-mail address in a URL. */
const DELIMITER = /([/?#&=:;]|%(?:25)*(?:2F|3F|23|26|3D|3A|3B|20))/i;
/** An e-mail address, but not `logo@2x.png`. The dots may be encoded, too. An address may begin anywhere, so its length is bounded. */
const EMAIL = /[^@]{1,64}(?:@|%(?:25)*40)(?!\dx\.)(?:[^@.%]{1,63}(?:\.|%(?:25)*2E)){1,8}[a-z]{2,}/gi;
/** `vue@latest.js`, `react@18.umd.js` and `repo@v1.2.beta` are no e-mail addresses. No such name of a file ends a domain. */
const FILE =
  /(?:@|%(?:25)*40)(?:v?\d+\.\d|(?:v?\d[^.]*(?:\.[^.]+)?|[^.]+(?:\.(?:min|umd|esm|prod))?)\.(?:[cm]?[jt]sx?|css|map|json|wasm|vue|html?|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ics|pdf|txt|csv|xml|mp[34])$)/i;
/** A JSON Web Token, and not `eyJ.png`. */
const JWT =
  /(^|[^\w-]|%(?:25)*[\da-fA-F]{2})eyJ[\w-]+(?:\.|%(?:25)*2[Ee])(?:[\w-]{6}|[\w-]*(?:\.|%(?:25)*2[Ee]))(?:[\w.~-]|%(?:25)*2[Ee])*/g;
const REDACTED = 'redacted';

/** The text with its ASCII characters decoded, however often they were encoded. */
const decode = (text: string): string =>
  text.replace(/%(?:25)*([2-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The end of the value that begins at `start`. An encoded `&` is a part of a value whose `=` was encoded less often. */
const endOf = (url: string, start: number, before: string, encoded = -1): number => {
  const ends = url.slice(start).matchAll(/;|3B$/i.test(before) ? PATH_END : END);
  for (const { 1: again, index } of ends) if (again === undefined || again.length <= encoded) return start + index;
  return url.length;
};

const redactParameters = (url: string, isSecret: (name: string) => boolean): string => {
  let safe = '';
  let from = 0;
  for (const { 0: all, 1: before = '', 2: name = '', 3: again, index } of url.matchAll(PARAMETER)) {
    if (index < from || !isSecret(decode(name))) continue;
    const start = index + all.length;
    const end = endOf(url, start, before, again?.length);
    safe += url.slice(from, start) + (end > start ? REDACTED : '');
    from = end;
  }
  return safe + url.slice(from);
};

const redactUrl = (url: string, isSecret: (name: string) => boolean): string =>
  redactParameters(url.replace(USER, '$1$2'), isSecret)
    .replace(JWT, `$1${REDACTED}`)
    .split(DELIMITER)
    .map((part) => part.replace(EMAIL, (found) => (FILE.test(found) ? found : REDACTED)))
    .join('');

/**
 * Creates a `beforeSend` that removes secrets from the URLs in a payload, at any depth and also within longer text. The function
 * replaces e-mail addresses, JSON Web Tokens, and the values of parameters with secret names by `redacted`. The function reads
 * parameters of the path, of the query, of a fragment of the same form, and of an encoded URL within the URL. The function also
 * removes user names and passwords from URLs, and changes no other text.
 *
 * @param secretNames matches the names of secret parameters. The default is a list with `token`, `key`, `password`, `pass`,
 * `auth`, `session`, `signature`, `code`, `email` and similar names.
 * @example createTracker({ baseUrl: '/clew', beforeSend: redactUrls() })
 */
export const redactUrls = (secretNames: RegExp = SECRET_NAMES): ((event: TrackedEvent) => TrackedEvent) => {
  // `search` begins at the beginning also where the expression is global. An `inviteKey` is an `invite_Key`, too.
  const isSecret = (name: string) =>
    name.search(secretNames) >= 0 || name.replace(/([a-z\d])([A-Z])/g, '$1_$2').search(secretNames) >= 0;
  const redact = (word: string) => (URL_LIKE.test(decode(word)) ? redactUrl(word, isSecret) : word);
  const clean = (_: string, value: unknown) => (typeof value === 'string' ? value.replace(/\S+/g, redact) : value);
  return ({ event, payload }) => ({
    event,
    payload: payload === undefined ? payload : JSON.parse(JSON.stringify(payload), clean),
  });
};
