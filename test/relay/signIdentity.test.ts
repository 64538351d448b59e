import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto';
import { sign } from 'hono/jwt';
import { describe, expect, it } from 'vitest';
import { createIdentityCheck } from '../../src/relay/identity.ts';
import { createRelay, type IdentityClaims, type SigningKeys, signIdentity } from '../../src/relay.ts';
import { AUDIENCE, claims, now, pair, SECRET, signingKeys } from './tokens.ts';

const { publicKey, privateKey } = pair();
const keys = [
  { id: 'a', secret: SECRET },
  { id: 'ed', publicKey },
];
const check = createIdentityCheck(undefined, { audience: AUDIENCE, keys }, () => {});
const parts = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(`${Buffer.from(part, 'base64url')}`));

describe('signIdentity', () => {
  it('makes a JWT with the standard claims', async () => {
    const before = now();
    const properties = { plan: 'pro', since: new Date(0), left: undefined };
    const token = await signIdentity({ primaryKey: 'dörte 👩‍🚀', expiresIn: 3600, properties }, signingKeys());
    const [header, payload] = parts(token);
    expect(header).toEqual({ alg: 'HS256', kid: 'a', typ: 'JWT' });
    expect(payload).toEqual({
      sub: 'dörte 👩‍🚀',
      aud: AUDIENCE,
      iat: expect.any(Number),
      exp: payload.iat + 3600,
      properties: { plan: 'pro', since: '1970-01-01T00:00:00.000Z' },
    });
    expect(payload.iat).toBeGreaterThanOrEqual(before);
    expect(payload.iat).toBeLessThanOrEqual(now());
    expect(await check?.('dörte 👩‍🚀', token)).toEqual({ properties: payload.properties });
  });

  it('signs with the first key, an Ed25519 key as EdDSA', async () => {
    const keys = { audience: AUDIENCE, keys: [{ id: 'ed', privateKey }, ...signingKeys().keys] };
    const token = await signIdentity({ primaryKey: 'ann', expiresIn: 1 }, keys);
    expect(parts(token)[0]).toEqual({ alg: 'EdDSA', kid: 'ed', typ: 'JWT' });
    expect(await check?.('ann', token)).toEqual({ properties: {} });
  });

  const good: IdentityClaims = { primaryKey: 'ann', expiresIn: 60 };
  const keysOf = (key: object): SigningKeys => ({ audience: AUDIENCE, keys: [key as SigningKeys['keys'][number]] });
  it.each<[string, unknown, unknown]>([
    ['expected { primaryKey, expiresIn, properties? }, got undefined', undefined, signingKeys()],
    ['primaryKey: expected a non-empty string, got 7', { ...good, primaryKey: 7 }, signingKeys()],
    ['primaryKey: expected at most 500 characters', { ...good, primaryKey: 'x'.repeat(501) }, signingKeys()],
    ...[0, -1, Number.NaN, 2_592_001, '60', undefined].map((expiresIn): [string, unknown, unknown] => [
      `expiresIn: expected a number of seconds above 0, at most 2592000, got ${expiresIn}`,
      { ...good, expiresIn },
      signingKeys(),
    ]),
    ['properties: expected an object, got a list', { ...good, properties: [] }, signingKeys()],
    ['properties: expected an object, got a Date', { ...good, properties: new Date() }, signingKeys()],
    ['properties: expected an object, got a string', { ...good, properties: new URL('http://a.b') }, signingKeys()],
    ['properties: expected an object, got a list', { ...good, properties: { toJSON: () => [1] } }, signingKeys()],
    ['properties: expected an object, got undefined', { ...good, properties: { toJSON() {} } }, signingKeys()],
    ['properties: expected an object, got null', { ...good, properties: null }, signingKeys()],
    ['properties: a: expected a value that JSON can hold, got NaN', { ...good, properties: { a: NaN } }, signingKeys()],
    ['properties: expected a token of at most 8192', { ...good, properties: { a: 'x'.repeat(8192) } }, signingKeys()],
    ['keys: expected { audience, keys, revoked? }, got undefined', good, undefined],
    ['keys.audience: expected a text of 1 to 200 characters, got undefined', good, { keys: signingKeys().keys }],
    ['keys.keys: expected a list with at least one key, got an object', good, { audience: 'a', keys: [] }],
    ['keys.keys[0]: expected { id, secret } or { id, privateKey }, got null', good, { audience: 'a', keys: [null] }],
    ['keys.keys[0]: expected { id, secret } or { id, privateKey }, got other names', good, keysOf({ id: 'a' })],
    ['keys.keys[0]: expected { id, secret } or { id, privateKey }', good, keysOf({ id: 'a', publicKey })],
    ['keys.keys[0].id: expected a text of 1 to 200 characters, got an empty', good, keysOf({ id: '', secret: SECRET })],
    ['keys.keys[0].secret: expected a string of at least 32 bytes, got a', good, keysOf({ id: 'a', secret: 'short' })],
    ['keys.keys[0].privateKey: expected an Ed25519 private key', good, keysOf({ id: 'a', privateKey: publicKey })],
    ['keys.keys[0]: expected a key that is not revoked', good, { ...signingKeys(), revoked: ['a'] }],
    ['keys.revoked: expected a list of ids, got a string', good, { ...signingKeys(), revoked: 'a' }],
    ['keys.revokd: expected one of audience, keys, revoked, got another name', good, { ...signingKeys(), revokd: [] }],
  ])('refuses with %s', async (message, claims, keys) => {
    const signing = signIdentity(claims as IdentityClaims, keys as SigningKeys);
    await expect(signing).rejects.toThrow(`signIdentity: ${message}`);
    await expect(signing).rejects.toThrow(TypeError);
  });
});

it('a token of another JWT library is accepted', async () => {
  const ofSecret = createSecretKey(Buffer.from(SECRET)).export({ format: 'jwk' });
  const { kty, crv, x } = createPublicKey(publicKey).export({ format: 'jwk' });
  const { d } = createPrivateKey(privateKey).export({ format: 'jwk' });
  for (const [jwk, alg] of [
    [{ ...ofSecret, kid: 'a', alg: 'HS256' }, 'HS256'],
    [{ kty, crv, x, d, kid: 'ed', alg: 'EdDSA' }, 'EdDSA'],
  ] as const) {
    const token = await sign(claims({ properties: { plan: 'pro' } }), jwk as never, alg);
    expect(await check?.('ann', token), alg).toEqual({ properties: { plan: 'pro' } });
  }
});

describe('createRelay refuses identityKeys', () => {
  const key = { id: 'a', secret: SECRET };
  const ring = (more: object) => ({ audience: AUDIENCE, keys: [key], ...more });
  const rsa = '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----\n';
  /** The same key with other line breaks. */
  const respelled = publicKey.replaceAll('\n', '\r\n').replace('MCow', 'MC\now');
  it.each<[string, unknown]>([
    [': expected { audience, keys, revoked? }, or no such option, got undefined', undefined],
    [': expected { audience, keys, revoked? }, got null', null],
    [': expected { audience, keys, revoked? }, got an object', [key]],
    ['.audience: expected a text of 1 to 200 characters, got undefined', { keys: [key] }],
    ['.audience: expected a text of 1 to 200 characters, got a string', ring({ audience: 'x'.repeat(201) })],
    ['.keys: expected a list with at least one key, got an object', ring({ keys: {} })],
    ['.keys[1]: expected { id, secret } or { id, publicKey }, got null', ring({ keys: [key, null] })],
    ['.keys[0]: expected { id, secret } or { id, publicKey }', ring({ keys: [{ id: 'a', privateKey }] })],
    ['.keys[0]: expected { id, secret } or { id, publicKey }', ring({ keys: [{ id: 'a', publicKey, privateKey }] })],
    ['.keys[0]: expected { id, secret } or { id, publicKey }', ring({ keys: [{ ...key, publicKey }] })],
    [
      '.keys[0].secret: expected a string of at least 32 bytes, got undefined',
      ring({ keys: [{ ...key, secret: undefined }] }),
    ],
    ['.keys[0].publicKey: expected an Ed25519 public key', ring({ keys: [{ id: 'a', publicKey: privateKey }] })],
    ['.keys[0].publicKey: expected an Ed25519 public key', ring({ keys: [{ id: 'a', publicKey: rsa }] })],
    ['.keys[0].publicKey: expected an Ed25519 public key', ring({ keys: [{ id: 'a', publicKey: undefined }] })],
    ['.keys[1].id: expected an id of its own, got another key’s', ring({ keys: [key, { id: 'a', publicKey }] })],
    [
      '.keys[1].secret: expected a secret of its own, got another key’s',
      ring({ keys: [key, { id: 'b', secret: SECRET }], revoked: ['a'] }),
    ],
    [
      '.keys[1].publicKey: expected a public key of its own, got another key’s',
      ring({
        keys: [
          { id: 'c', publicKey },
          { id: 'd', publicKey: respelled },
        ],
        revoked: ['c'],
      }),
    ],
    ['.revoked: expected a list of ids, got an object', ring({ revoked: [7] })],
    ['.revokd: expected one of audience, keys, revoked, got another name', ring({ revokd: ['a'] })],
  ])('with identityKeys%s', (message, identityKeys) => {
    const create = () => createRelay({ baseUrl: 'https://service.example', apiKey: 'k', identityKeys } as never);
    expect(create).toThrow(`createRelay: identityKeys${message}`);
    expect(create).toThrow(TypeError);
  });

  it('with the secret of plain signatures, which would let a chosen primary key become a token', () => {
    const options = { baseUrl: 'https://service.example', apiKey: 'k', identitySecret: SECRET };
    const keys = [{ id: 'b', publicKey }, key];
    const create = () => createRelay({ ...options, identityKeys: ring({ keys }) });
    expect(create).toThrow('identityKeys.keys[1].secret: expected another secret than identitySecret, got the same');
  });
});
