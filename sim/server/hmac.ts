import { createHmac } from 'node:crypto';

/** The relay's option `identitySecret`. */
export const SECRET = 'a secret of the simulation, of more than 32 bytes';

const digest = (secret: string | Uint8Array, text: string | Uint8Array): Buffer =>
  createHmac('sha256', secret).update(text).digest();

/** The primary key's signature, as the app's server makes it. */
export const sign = (primaryKey: string): string => digest(SECRET, primaryKey).toString('hex');

const AUDIENCE = 'sim';
const secretOf = (key: number): string => `${SECRET}, number ${key}`;

/** The keys for tokens. The app's server signs with the latest one. */
export interface KeyRing {
  readonly latest: number;
  /** The relay still accepts keys from this number on. */
  readonly first: number;
  readonly revoked: readonly number[];
}

/** The relay's option `identityKeys`. */
export const identityKeysOf = ({ latest, first, revoked }: KeyRing): object => ({
  audience: AUDIENCE,
  keys: Array.from({ length: latest + 1 - first }, (_, n) => ({ id: `${first + n}`, secret: secretOf(first + n) })),
  revoked: revoked.map(String),
});
/** Lifetime of a token, in s. A short lifetime makes some tokens expire before they arrive. */
const LIFETIME = 5;

const base64Url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An identity token, as the app's server makes it with this key at this time (ms since the epoch). */
export const tokenOf = (primaryKey: string, now: number, key: number): string => {
  const iat = Math.floor(now / 1000);
  const claims = { sub: primaryKey, aud: AUDIENCE, iat, exp: iat + LIFETIME };
  const signed = `${base64Url({ alg: 'HS256', kid: `${key}` })}.${base64Url(claims)}`;
  return `${signed}.${digest(secretOf(key), signed).toString('base64url')}`;
};

/** `crypto.subtle` for HMAC, as the relay uses it. Node's own works in a worker thread and finishes at an arbitrary moment. */
export const subtle = {
  importKey: async (_format: string, secret: Uint8Array) => secret,
  verify: async (_name: string, key: Uint8Array, signature: Uint8Array, text: Uint8Array) =>
    digest(key, text).equals(signature),
};
