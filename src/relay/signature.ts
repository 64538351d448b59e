/**
 * Signed identity: the app's server, which knows who has logged in, signs their primary key; the relay believes no page
 * that cannot show the signature. HMAC-SHA256 (RFC 2104) in lower-case hex, by the Web Crypto that every runtime has.
 */

const encoder = new TextEncoder();

const importKey = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);

/**
 * Signs a primary key, on the app's server: pass the result to the page, and there to `identify`.
 *
 * @param secret the relay's `identitySecret`; it never leaves the servers
 * @returns HMAC-SHA256 of the primary key's UTF-8, as 64 lower-case hex digits
 * @throws TypeError when one of both is not a non-empty string
 * @example
 * const signature = await signPrimaryKey(process.env.IDENTITY_SECRET ?? '', user.email);
 * // in the page: clew('identify', email, undefined, { signature })
 */
export const signPrimaryKey = async (secret: string, primaryKey: string): Promise<string> => {
  for (const [name, value] of Object.entries({ secret, primaryKey })) {
    if (typeof value !== 'string' || !value) throw new TypeError(`signPrimaryKey: ${name} must be a non-empty string`);
  }
  const signature = await crypto.subtle.sign('HMAC', await importKey(secret), encoder.encode(primaryKey));
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

/** Whether a signature is this primary key's. */
export type CheckSignature = (primaryKey: string, signature: unknown) => Promise<boolean>;

/**
 * `verify` compares in constant time, so that nobody finds a signature digit by digit:
 * https://w3c.github.io/webcrypto/#hmac-operations-verify
 */
export const createSignatureCheck = (secret: string): CheckSignature => {
  const key = importKey(secret);
  return async (primaryKey, signature) => {
    if (typeof signature !== 'string' || !/^[\da-f]{64}$/.test(signature)) return false;
    const bytes = Uint8Array.from(signature.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    return crypto.subtle.verify('HMAC', await key, bytes, encoder.encode(primaryKey));
  };
};
