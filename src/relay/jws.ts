import { isObject, parseJson } from '../wire.js';

/** Compact JWS (RFC 7515) as far as identity tokens need it, by the Web Crypto that every runtime has. */

/** Characters of a token. A primary key of 500 characters needs up to 2,000 of them, and its properties the rest. */
export const MAX_TOKEN = 8192;

/** The algorithms of the two kinds of keys. `Ed25519` is the newer name of `EdDSA` with this curve (RFC 9864). */
export const ALGORITHMS = { secret: ['HS256'], ed25519: ['EdDSA', 'Ed25519'] } as const;

export interface Jws {
  readonly header: Record<string, unknown>;
  /** The claims. Call it after the signature has been verified. Undefined if they are no JSON object. */
  claims(): Record<string, unknown> | undefined;
  /** The signed bytes. */
  readonly signed: Bytes;
  readonly signature: Bytes;
}

/** Web Crypto takes no view of a shared buffer. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
export const utf8 = (text: string): Bytes => encoder.encode(text);

export const fromBase64 = (text: string): Bytes | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
};

const toBase64Url = (bytes: Bytes): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The bytes of base64url, or undefined for another spelling of the same bytes: padding, spaces, bits behind the last byte. */
const fromBase64Url = (text: string): Bytes | undefined => {
  const bytes = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  return bytes && toBase64Url(bytes) === text ? bytes : undefined;
};

const objectOf = (bytes: Bytes): Record<string, unknown> | undefined => {
  try {
    // The relay and the signer must not read two texts: no byte is replaced, and no byte order mark is left out.
    const value = parseJson<unknown>(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** The parts of a token, or undefined if it is no compact JWS, too long, or needs an extension (`crit`). */
export const readJws = (token: unknown): Jws | undefined => {
  if (typeof token !== 'string' || token.length > MAX_TOKEN) return undefined;
  const parts = token.split('.');
  const [head = '', body = ''] = parts;
  const [headBytes, bodyBytes, signature] = parts.map(fromBase64Url);
  if (parts.length !== 3 || !headBytes || !bodyBytes || !signature) return undefined;
  const header = objectOf(headBytes);
  // https://www.rfc-editor.org/rfc/rfc7515#section-4.1.11
  if (!header || Object.hasOwn(header, 'crit')) return undefined;
  return { header, claims: () => objectOf(bodyBytes), signed: utf8(`${head}.${body}`), signature };
};

/** @param sign makes the signature of its argument */
export const writeJws = async (header: object, claims: object, sign: (signed: Bytes) => Promise<ArrayBuffer>) => {
  const signed = [header, claims].map((part) => toBase64Url(utf8(JSON.stringify(part)))).join('.');
  return `${signed}.${toBase64Url(new Uint8Array(await sign(utf8(signed))))}`;
};
