import { isObject } from '../wire.js';
import { type CryptoKeyOf, type IdentityKeys, importVerifier } from './identityKeys.js';
import { ALGORITHMS, MAX_TOKEN, readJws } from './jws.js';
import { Refusal } from './request.js';
import { createSignatureCheck, isPlain } from './signature.js';

/** Seconds for which a token may be valid. Queues keep no event for longer (`maxAge`). More is an `exp` in ms by mistake. */
export const MAX_LIFETIME = 2_592_000;
/** Seconds by which the clock of the app's server may be ahead of the relay's. */
const LEEWAY = 60;

/** Why the relay refuses an identity, for the operator. A page gets no more than whether a new token would help. */
export const IDENTITY_FAULTS = {
  missing: 'there is no signature',
  plain: 'the plain signature is not of this primary key with identitySecret',
  malformed: `the token is no compact JWS in base64url without padding, without crit, of at most ${MAX_TOKEN} characters`,
  unknown_key: 'the kid of the token is not in identityKeys',
  revoked_key: 'the key of the token is revoked',
  algorithm: 'the alg of the token is not HS256 for a secret, or EdDSA for a public key',
  signature:
    'the token was not signed with the key of its kid (a secret as the bytes of its text), or was changed since',
  claims: 'the token needs sub, aud, iat and exp, in seconds, and properties that are an object',
  lifetime: `the token is valid for more than ${MAX_LIFETIME} s`,
  audience: 'the aud of the token is not the audience of identityKeys',
  early: `the iat or nbf of the token, in seconds, is more than ${LEEWAY} s ahead of the relay’s clock`,
  expired: 'the token has expired',
  primary_key: 'the sub of the token is another primary key',
  property: 'a property is not the one of the token, or not in allowedProperties',
} as const;
export type IdentityFault = keyof typeof IDENTITY_FAULTS;

/** The proof of a valid signature. */
export interface Proof {
  /** The properties of the token. Undefined for a plain signature, which covers no property. */
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/** Resolves to what a signature proves of this primary key, or to the reason why it proves nothing. */
export type CheckIdentity = (primaryKey: string, signature: unknown) => Promise<Proof | IdentityFault>;

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** Checks verified claims, and returns their proof. */
const judgeClaims = (
  { sub, aud, iat, exp, nbf: from, properties: given }: Record<string, unknown>,
  audience: string,
  primaryKey: string,
): Proof | IdentityFault => {
  // Some languages write null for a field without a value.
  const properties = given ?? {};
  const nbf = from ?? 0;
  if (typeof sub !== 'string' || !isTime(iat) || !isTime(exp) || !isTime(nbf) || !isObject(properties)) return 'claims';
  const now = Date.now() / 1000;
  if (aud !== audience && !(Array.isArray(aud) && aud.includes(audience))) return 'audience';
  if (exp - iat > MAX_LIFETIME) return 'lifetime';
  if (Math.max(iat, nbf) > now + LEEWAY) return 'early';
  if (sub !== primaryKey) return 'primary_key';
  return exp > now ? { properties } : 'expired';
};

const createTokenCheck = ({ audience, keys, revoked = [] }: IdentityKeys): CheckIdentity => {
  const imported = new Map<unknown, CryptoKeyOf>();
  const known = new Map<unknown, IdentityKeys['keys'][number]>(keys.map((key) => [key.id, key]));
  const isRevoked = new Set<unknown>(revoked);
  return async (primaryKey, token) => {
    const jws = readJws(token);
    if (!jws) return 'malformed';
    const { alg, kid } = jws.header;
    if (isRevoked.has(kid)) return 'revoked_key';
    const key = known.get(kid);
    if (!key) return 'unknown_key';
    // On its first use, so that an old runtime without Ed25519 fails only for a token that needs it.
    const verifier = imported.get(kid) ?? importVerifier(key);
    imported.set(kid, verifier);
    // Without Ed25519, a token with another `alg` returns before anything awaits the key. Node would end the process.
    verifier.key.catch(() => {});
    // The key decides, and never the token: https://www.rfc-editor.org/rfc/rfc8725#section-3.1
    if (!(ALGORITHMS[verifier.kind] as readonly unknown[]).includes(alg)) return 'algorithm';
    const isSigned = await crypto.subtle.verify(verifier.name, await verifier.key, jws.signature, jws.signed);
    if (!isSigned) return 'signature';
    const claims = jws.claims();
    return claims ? judgeClaims(claims, audience, primaryKey) : 'claims';
  };
};

/**
 * The check of tokens by a ring, and of plain signatures by a secret. Undefined without either.
 *
 * @param onError receives why this runtime cannot verify. The check then rejects with a `Refusal`, so pages keep their events
 */
export const createIdentityCheck = (
  identitySecret: string | undefined,
  identityKeys: IdentityKeys | undefined,
  onError: (error: unknown) => void,
): CheckIdentity | undefined => {
  const isOfSecret = identitySecret === undefined ? undefined : createSignatureCheck(identitySecret);
  const checkToken = identityKeys && createTokenCheck(identityKeys);
  if (!isOfSecret && !checkToken) return undefined;
  return async (primaryKey, signature) => {
    if (signature === undefined || signature === '') return 'missing';
    try {
      if (checkToken && !isPlain(signature)) return await checkToken(primaryKey, signature);
      return (await isOfSecret?.(primaryKey, signature)) ? {} : 'plain';
    } catch (error) {
      onError(error);
      // Web Crypto fails where it lacks an algorithm.
      throw new Refusal(503, 'this relay cannot verify signatures', 1);
    }
  };
};
