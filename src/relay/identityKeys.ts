import { isObject, kindOf } from '../wire.js';
import { type Bytes, fromBase64 } from './jws.js';
import { importSecret, isSecret, SECRET_BYTES } from './signature.js';

/** A secret for tokens with the algorithm HS256, which the app's server and the relay share. */
export interface SecretKey {
  /** The `kid` of tokens: any name that no other key has, such as the month in which you made the key. */
  readonly id: string;
  /** At least 32 bytes, for example from `openssl rand -hex 32`. Not `identitySecret`, and of no other purpose. */
  readonly secret: string;
}

/** The public half of an Ed25519 key, for tokens with the algorithm EdDSA. The public half verifies tokens, and cannot make one. */
export interface PublicKey {
  /** The `kid` of tokens: any name that no other key has. */
  readonly id: string;
  /** PEM, as `openssl pkey -pubout` writes it. */
  readonly publicKey: string;
}

/** The private half of an Ed25519 key. The private half belongs to the app's server, and not to the relay. */
export interface PrivateKey {
  /** The `kid` of tokens, as in the relay's `PublicKey`. */
  readonly id: string;
  /** PEM (PKCS #8), as `openssl genpkey -algorithm ed25519` writes it. */
  readonly privateKey: string;
}

/** The keys whose identity tokens the relay accepts. */
export interface IdentityKeys {
  /**
   * Your site, as tokens have it in `aud`. The relay refuses a token that names another one, so that two sites can share a key.
   *
   * @example 'shop.example'
   */
  readonly audience: string;
  /** Each of them verifies the tokens that have its id as `kid`. */
  readonly keys: readonly (SecretKey | PublicKey)[];
  /**
   * Ids of keys whose tokens the relay refuses from now on, also if `keys` still has the key.
   *
   * @default none
   */
  readonly revoked?: readonly string[] | undefined;
}

/** The keys of the app's server. With secrets, they may be the relay's `IdentityKeys`. */
export interface SigningKeys {
  /** The `aud` of tokens: the same text as in the relay's `IdentityKeys`. */
  readonly audience: string;
  /** The first one signs. */
  readonly keys: readonly (SecretKey | PrivateKey)[];
  /**
   * Ids of keys that sign no more.
   *
   * @default none
   */
  readonly revoked?: readonly string[] | undefined;
}

/** The beginning of the DER of Ed25519 keys, before their 32 bytes: https://www.rfc-editor.org/rfc/rfc8410#section-10 */
const DER = {
  PUBLIC: [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00],
  PRIVATE: [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
} as const;

/** The DER of an Ed25519 key in PEM, or undefined for anything else. */
const derOf = (pem: unknown, half: keyof typeof DER): Bytes | undefined => {
  if (typeof pem !== 'string') return undefined;
  const [, lines = ''] =
    new RegExp(`^\\s*-----BEGIN ${half} KEY-----([^-]+)-----END ${half} KEY-----\\s*$`).exec(pem) ?? [];
  const bytes = fromBase64(lines);
  const isOurs = bytes?.length === DER[half].length + 32 && DER[half].every((byte, at) => bytes[at] === byte);
  return isOurs ? bytes : undefined;
};

const ED25519 = { name: 'Ed25519' };

/** A key that Web Crypto can use, with the name of its algorithm there. */
export interface CryptoKeyOf {
  readonly kind: 'secret' | 'ed25519';
  readonly name: 'HMAC' | 'Ed25519';
  readonly key: Promise<CryptoKey>;
}

const importSecretKey = ({ secret }: SecretKey): CryptoKeyOf => ({
  kind: 'secret',
  name: 'HMAC',
  key: importSecret(secret),
});

const importHalf = (format: 'spki' | 'pkcs8', der: Bytes | undefined, use: KeyUsage): CryptoKeyOf => ({
  kind: 'ed25519',
  name: 'Ed25519',
  key: crypto.subtle.importKey(format, der as Bytes, ED25519, false, [use]),
});

export const importVerifier = (key: SecretKey | PublicKey): CryptoKeyOf =>
  'secret' in key ? importSecretKey(key) : importHalf('spki', derOf(key.publicKey, 'PUBLIC'), 'verify');

export const importSigner = (key: SecretKey | PrivateKey): CryptoKeyOf =>
  'secret' in key ? importSecretKey(key) : importHalf('pkcs8', derOf(key.privateKey, 'PRIVATE'), 'sign');

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= 200;
const NAME = 'a text of 1 to 200 characters';
const SECRET = `a string of at least ${SECRET_BYTES} bytes`;

const HALVES = {
  publicKey: ['PUBLIC', 'an Ed25519 public key as PEM'],
  privateKey: ['PRIVATE', 'an Ed25519 private key as PEM (PKCS #8)'],
} as const;

const UNIQUE = {
  id: 'an id of its own',
  secret: 'a secret of its own',
  publicKey: 'a public key of its own',
  privateKey: 'a private key of its own',
} as const;

type Fault = [name: string, expected: string, got: string];

const faultOfKey = (key: unknown, at: string, half: keyof typeof HALVES): Fault | undefined => {
  const [label, expected] = HALVES[half];
  const names = isObject(key) ? Object.keys(key).sort().join() : '';
  if (!isObject(key) || (names !== 'id,secret' && names !== `id,${half}`))
    return [at, `{ id, secret } or { id, ${half} }`, isObject(key) ? 'other names' : kindOf(key)];
  if (!isName(key.id)) return [`${at}.id`, NAME, kindOf(key.id)];
  if ('secret' in key) return isSecret(key.secret) ? undefined : [`${at}.secret`, SECRET, kindOf(key.secret)];
  return derOf(key[half], label) ? undefined : [`${at}.${half}`, expected, kindOf(key[half])];
};

/** The value of a field to compare it by. The PEM of a key has several spellings. */
const comparable = (key: Record<string, unknown>, name: keyof typeof UNIQUE): unknown => {
  const isPem = name === 'publicKey' || name === 'privateKey';
  return isPem ? derOf(key[name], HALVES[name][0])?.join() : key[name];
};

/**
 * The fault of a ring: a name, the expected value, and the given value. Undefined if the ring is valid.
 *
 * @param half the half of Ed25519 keys. The relay has the public one, and the app's server the private one.
 */
export const keysFault = (ring: unknown, half: keyof typeof HALVES): Fault | undefined => {
  if (!isObject(ring)) return ['', '{ audience, keys, revoked? }', kindOf(ring)];
  const stray = Object.keys(ring).find((name) => !['audience', 'keys', 'revoked'].includes(name));
  if (stray !== undefined) return [`.${stray.slice(0, 80)}`, 'one of audience, keys, revoked', 'another name'];
  const { audience, keys, revoked = [] } = ring;
  if (!isName(audience)) return ['.audience', NAME, kindOf(audience)];
  if (!Array.isArray(keys) || keys.length === 0) return ['.keys', 'a list with at least one key', kindOf(keys)];
  for (const [at, key] of keys.entries()) {
    const fault = faultOfKey(key, `.keys[${at}]`, half);
    if (fault) return fault;
    // A key under two ids would still be valid after one of them is revoked.
    for (const name of ['id', 'secret', half] as const) {
      const own = comparable(key, name);
      if (own !== undefined && keys.findIndex((other) => comparable(other, name) === own) < at)
        return [`.keys[${at}].${name}`, UNIQUE[name], 'another key’s'];
    }
  }
  return Array.isArray(revoked) && revoked.every(isName) ? undefined : ['.revoked', 'a list of ids', kindOf(revoked)];
};
