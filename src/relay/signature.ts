import { keyFault } from '../service/eventFault.js';
import { kindOf } from '../wire.js';

/**
 * Signed identity: the app's server knows who has logged in and signs their primary key. The relay accepts no identity without
 * that signature. The signature is HMAC-SHA256 (RFC 2104) in lower-case hex, by the Web Crypto that every runtime has.
 */

/** HMAC-SHA256 is as hard to guess as its key, up to 32 bytes: https://www.rfc-editor.org/rfc/rfc2104#section-3 */
export const SECRET_BYTES = 32;

const encoder = new TextEncoder();

export const isSecret = (value: unknown): value is string =>
  typeof value === 'string' && encoder.encode(value).length >= SECRET_BYTES;

export const importSecret = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

/**
 * Signs a primary key on the app's server. The page passes the signature to `identify`.
 *
 * @param secret the relay's `identitySecret`, of at least 32 bytes, which must never leave the servers
 * @param primaryKey the customer's primary key, byte for byte as the page passes it to `identify`
 * @returns resolves to HMAC-SHA256 of the primary key's UTF-8, as 64 lower-case hex digits
 * @throws TypeError (rejects) if the secret has fewer than 32 bytes, or the relay would refuse the primary key
 * @example
 * const signature = await signPrimaryKey(process.env.IDENTITY_SECRET ?? '', user.id);
 * // in the page: clew('identify', id, undefined, { signature })
 */
export const signPrimaryKey = async (secret: string, primaryKey: string): Promise<string> => {
  const fail = (what: string) => {
    throw new TypeError(`signPrimaryKey: ${what}`);
  };
  if (!isSecret(secret)) fail(`secret: expected a string of at least ${SECRET_BYTES} bytes, got ${kindOf(secret)}`);
  const fault = keyFault(primaryKey);
  if (fault) fail(`primaryKey: ${fault}`);
  const signature = await crypto.subtle.sign('HMAC', await importSecret(secret), encoder.encode(primaryKey));
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** Whether a text has the form of `signPrimaryKey`, which no token has. */
export const isPlain = (signature: unknown): signature is string =>
  typeof signature === 'string' && /^[\da-f]{64}$/.test(signature);

/** Resolves to whether a signature belongs to this primary key. */
export type CheckSignature = (primaryKey: string, signature: unknown) => Promise<boolean>;

/**
 * `verify` compares in constant time, so that an attacker cannot find a signature digit by digit:
 * https://w3c.github.io/webcrypto/#hmac-operations-verify
 */
export const createSignatureCheck = (secret: string): CheckSignature => {
  const key = importSecret(secret);
  return async (primaryKey, signature) => {
    if (!isPlain(signature)) return false;
    const bytes = Uint8Array.from(signature.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    return crypto.subtle.verify('HMAC', await key, bytes, encoder.encode(primaryKey));
  };
};
