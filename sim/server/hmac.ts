import { createHmac } from 'node:crypto';

/** The relay's option `identitySecret`. */
export const SECRET = 'a secret of the simulation, of more than 32 bytes';

const digest = (secret: string | Uint8Array, text: string | Uint8Array): Buffer =>
  createHmac('sha256', secret).update(text).digest();

/** The primary key's signature, as the app's server makes it. */
export const sign = (primaryKey: string): string => digest(SECRET, primaryKey).toString('hex');

/** `crypto.subtle` for HMAC, as the relay uses it. Node's own answers in another thread, at no certain moment. */
export const subtle = {
  importKey: async (_format: string, secret: Uint8Array) => secret,
  verify: async (_name: string, key: Uint8Array, signature: Uint8Array, text: Uint8Array) =>
    digest(key, text).equals(signature),
};
