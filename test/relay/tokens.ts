import { createHmac, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import type { SigningKeys } from '../../src/relay.ts';

/** Keys and tokens of tests. The tokens are made by Node's own crypto, and not by the code under test. */

export const AUDIENCE = 'shop.example';
export const SECRET = 'a-secret-for-tokens-of-enough-bytes';
export const pair = () =>
  generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });

export const signingKeys = (id = 'a', secret = SECRET): SigningKeys => ({ audience: AUDIENCE, keys: [{ id, secret }] });

export const encode = (part: unknown): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

export const hmac = (signed: string, secret: string | Buffer = SECRET, hash = 'sha256'): string =>
  createHmac(hash, secret).update(signed).digest('base64url');
export const eddsa = (signed: string, pem: string): string =>
  sign(null, Buffer.from(signed), createPrivateKey(pem)).toString('base64url');

export const now = () => Math.floor(Date.now() / 1000);

/** Claims that the relay accepts for Ann. */
export const claims = (more: object = {}) => ({ sub: 'ann', aud: AUDIENCE, iat: now(), exp: now() + 60, ...more });

/** A token of these parts, objects or JSON texts. */
export const token = (
  body: unknown = claims(),
  head: unknown = { alg: 'HS256', kid: 'a' },
  signer: (signed: string) => string = hmac,
): string => {
  const signed = `${encode(head)}.${encode(body)}`;
  return `${signed}.${signer(signed)}`;
};
