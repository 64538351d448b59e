import { keyFault } from '../service/eventFault.js';
import { objectFault } from '../service/kindOfData.js';
import { written } from '../service/written.js';
import { isObject, kindOf, type Properties } from '../wire.js';
import { MAX_LIFETIME } from './identity.js';
import { importSigner, keysFault, type SigningKeys } from './identityKeys.js';
import { ALGORITHMS, MAX_TOKEN, writeJws } from './jws.js';

/** Whom a token is for, and for how long. */
export interface IdentityClaims {
  /** The customer's primary key, byte for byte as the page passes it to `identify`. The `sub` of the token. */
  readonly primaryKey: string;
  /** How long the token is valid, in seconds: above 0, at most 2,592,000 (30 days). */
  readonly expiresIn: number;
  /**
   * Customer properties that the page can set to these values only. A property that is `null` can only be deleted.
   *
   * @default none: `allowedProperties` of the relay covers all properties
   */
  readonly properties?: Properties | undefined;
}

/**
 * Makes an identity token on the app's server: a compact JWS (RFC 7515) with the claims `sub`, `aud`, `iat`, `exp` and
 * `properties`. The page passes it to `identify` as the signature. docs/identity.md makes the same token in other languages.
 *
 * @param keys the first one signs, as HS256 or EdDSA. The relay needs the same key, or its public half, in `identityKeys`
 * @returns resolves to the token, of at most 8,192 characters
 * @throws TypeError (rejects) for an invalid argument: it names what was expected, and never a key
 * @example
 * const keys = { audience: 'shop.example', keys: [{ id: '2026-01', secret: process.env.IDENTITY_KEY ?? '' }] };
 * const token = await signIdentity({ primaryKey: user.id, expiresIn: 3600, properties: { plan: 'pro' } }, keys);
 * // in the page: clew('identify', id, { plan: 'pro' }, { signature: token })
 */
export const signIdentity = async (claims: IdentityClaims, keys: SigningKeys): Promise<string> => {
  const fail = (what: string): never => {
    throw new TypeError(`signIdentity: ${what}`);
  };
  if (!isObject(claims)) fail(`expected { primaryKey, expiresIn, properties? }, got ${kindOf(claims)}`);
  const { primaryKey, expiresIn, properties } = claims;
  const fault = keyFault(primaryKey);
  if (fault) fail(`primaryKey: ${fault}`);
  if (!(typeof expiresIn === 'number' && expiresIn > 0 && expiresIn <= MAX_LIFETIME))
    fail(`expiresIn: expected a number of seconds above 0, at most ${MAX_LIFETIME}, got ${expiresIn}`);
  const { data } = written(properties, 'signIdentity: properties');
  const none = properties === undefined ? undefined : objectFault(properties, data);
  if (none) fail(`properties: ${none}`);
  const wrong = keysFault(keys, 'privateKey');
  if (wrong) fail(`keys${wrong[0]}: expected ${wrong[1]}, got ${wrong[2]}`);
  const [first] = keys.keys as [SigningKeys['keys'][number]];
  if (keys.revoked?.includes(first.id)) fail('keys.keys[0]: expected a key that is not revoked');
  const { kind, name, key } = importSigner(first);
  const iat = Math.floor(Date.now() / 1000);
  const token = await writeJws(
    { alg: ALGORITHMS[kind][0], kid: first.id, typ: 'JWT' },
    { sub: primaryKey, aud: keys.audience, iat, exp: iat + Math.ceil(expiresIn), properties: data },
    async (signed) => crypto.subtle.sign(name, await key, signed),
  );
  if (token.length > MAX_TOKEN)
    fail(`properties: expected a token of at most ${MAX_TOKEN} characters, got ${token.length}`);
  return token;
};
