// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import {
  type IdentityClaims,
  type LogLine,
  memorySeen,
  type RelayOptions,
  signIdentity,
  signPrimaryKey,
} from '../../src/relay.ts';
import { createVisitor, KEY, useCollector } from '../collector/running.ts';
import { BATCH, type OpenRelay, type Reply, SINGLE, UPSERT, useRelays } from './stage.ts';
import { AUDIENCE, claims, eddsa, encode, hmac, now, pair, SECRET, signingKeys, token } from './tokens.ts';

const { publicKey, privateKey } = pair();
const other = pair();
const collector = useCollector();
const identityKeys = {
  audience: AUDIENCE,
  keys: [
    { id: 'a', secret: SECRET },
    { id: 'ed', publicKey },
    { id: 'old', secret: `old ${SECRET}` },
    { id: 'revoked', secret: `revoked ${SECRET}` },
  ],
  revoked: ['revoked', 'gone'],
};
const openRelay = useRelays(() => ({ baseUrl: collector().url, apiKey: KEY, identityKeys }));

const signFor = (identity: Partial<IdentityClaims> = {}, keys = signingKeys()) =>
  signIdentity({ primaryKey: 'ann', expiresIn: 60, ...identity }, keys);

const openPlainRelay = useRelays(() => ({ baseUrl: collector().url, apiKey: KEY, identitySecret: SECRET }));

/** A token cut to this length. */
const ofLength = (length: number) => token(claims({ properties: { a: 'x'.repeat(length) } })).slice(0, length);

/** Changes the two bits in the last character of a 32-byte signature that have no meaning. */
const withSpareBits = (signed: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return signed.slice(0, -1) + alphabet[alphabet.indexOf(signed.slice(-1)) + 1];
};

type Forgery = [reason: string, what: string, forge: () => unknown];

const changed = async (change: (claims: Record<string, unknown>) => object) => {
  const [head, body = '', signature] = (await signFor({ primaryKey: 'ben', properties: { plan: 'free' } })).split('.');
  return [head, encode(change(JSON.parse(`${Buffer.from(body, 'base64url')}`))), signature].join('.');
};

/** Signatures of an attacker who wants to be Ann, each with the reason in the operator's log. */
const FORGERIES: Forgery[] = [
  ['missing', 'none', () => undefined],
  ['missing', 'an empty one', () => ''],
  ['plain', 'a plain signature of Ann', () => signPrimaryKey(SECRET, 'ann')],
  ...[7, true, null, [], {}].map((value): Forgery => ['malformed', `the value ${JSON.stringify(value)}`, () => value]),
  ['malformed', 'a list with a token', () => [token()]],
  ['malformed', 'two parts', () => token().replace(/\.[^.]*$/, '')],
  ['signature', 'no third part', () => token(undefined, undefined, () => '')],
  ['malformed', 'four parts', () => `${token()}.`],
  ['malformed', 'a JWS as JSON', () => JSON.stringify({ payload: encode(claims()), signature: 'a' })],
  ['malformed', 'padding', () => `${token()}=`],
  ['malformed', 'base64 in place of base64url', () => token(claims({ a: '???>>>' })).replaceAll('_', '/')],
  ['malformed', 'a line break behind it', () => `${token()}\n`],
  ['malformed', 'a space before it', () => ` ${token()}`],
  ['malformed', 'bits that mean nothing', () => withSpareBits(token())],
  ['malformed', 'a header that is no JSON', () => token(claims(), 'alg')],
  ['malformed', 'a header that is a list', () => token(claims(), [{ alg: 'HS256', kid: 'a' }])],
  ['malformed', 'a header with crit', () => token(claims(), { alg: 'HS256', kid: 'a', crit: ['b64'], b64: false })],
  ['malformed', 'a header that is not UTF-8', () => token().replace(/^[^.]+/, '_w')],
  ['malformed', '8,193 characters', () => ofLength(8193)],
  ['malformed', '90,000 characters', () => ofLength(90_000)],
  ['unknown_key', 'no kid', () => token(claims(), { alg: 'HS256' })],
  ['unknown_key', 'another kid', () => token(claims(), { alg: 'HS256', kid: 'b' })],
  ['unknown_key', 'the kid __proto__', () => token(claims(), { alg: 'HS256', kid: '__proto__' })],
  ['unknown_key', 'a list as kid', () => token(claims(), { alg: 'HS256', kid: ['a'] })],
  ['unknown_key', 'its own key', () => token(claims(), { alg: 'HS256', jwk: { kty: 'oct', k: encode(SECRET) } })],
  ['revoked_key', 'a revoked key', () => signFor({}, signingKeys('revoked', `revoked ${SECRET}`))],
  ['revoked_key', 'a revoked key that the relay has no more', () => signFor({}, signingKeys('gone', 'x'.repeat(32)))],
  ...['none', 'None', 'NONE', '', null, undefined, ['HS256'], 'hs256'].map(
    (alg): Forgery => ['algorithm', `the alg ${JSON.stringify(alg)}`, () => token(claims(), { alg, kid: 'a' })],
  ),
  ['algorithm', 'the alg none and no signature', () => token(claims(), { alg: 'none', kid: 'a' }, () => '')],
  ['algorithm', 'HS512', () => token(claims(), { alg: 'HS512', kid: 'a' }, (signed) => hmac(signed, SECRET, 'sha512'))],
  [
    'algorithm',
    'HMAC with the public key as secret',
    () => token(claims(), { alg: 'HS256', kid: 'ed' }, (signed) => hmac(signed, publicKey)),
  ],
  [
    'signature',
    'HMAC with the public key, as EdDSA',
    () => token(claims(), { alg: 'EdDSA', kid: 'ed' }, (signed) => hmac(signed, publicKey)),
  ],
  ['algorithm', 'RS256', () => token(claims(), { alg: 'RS256', kid: 'ed' }, (signed) => hmac(signed, publicKey))],
  [
    'algorithm',
    'EdDSA with a secret’s kid',
    () => token(claims(), { alg: 'EdDSA', kid: 'a' }, (signed) => eddsa(signed, privateKey)),
  ],
  [
    'signature',
    'another Ed25519 key',
    () => token(claims(), { alg: 'EdDSA', kid: 'ed' }, (signed) => eddsa(signed, other.privateKey)),
  ],
  ['signature', 'another secret', () => signFor({}, signingKeys('a', `another ${SECRET}`))],
  ['signature', 'the secret of another kid', () => signFor({}, signingKeys('old'))],
  [
    'signature',
    'the signature in hex',
    () => token(claims(), undefined, (signed) => Buffer.from(hmac(signed), 'base64url').toString('hex')),
  ],
  ['signature', 'a shorter signature', () => token(claims(), undefined, (signed) => hmac(signed).slice(0, 40))],
  ['signature', 'Ben’s token, changed to Ann', () => changed((body) => ({ ...body, sub: 'ann' }))],
  ['claims', 'claims that are no JSON', () => token('{')],
  ['claims', 'claims that are a list', () => token([claims()])],
  ...['sub', 'iat', 'exp'].map((name): Forgery => ['claims', `no ${name}`, () => token(claims({ [name]: undefined }))]),
  ['claims', 'a sub that is a number', () => token(claims({ sub: 7 }))],
  ['claims', 'an exp that is a text', () => token(claims({ exp: `${now() + 60}` }))],
  ['claims', 'an exp without end', () => token(JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999'))],
  ['claims', 'properties that are a list', () => token(claims({ properties: [] }))],
  ['audience', 'another site’s token', () => signFor({}, { ...signingKeys(), audience: 'blog.example' })],
  ['audience', 'no aud', () => token(claims({ aud: undefined }))],
  ['audience', 'a list of other sites', () => token(claims({ aud: ['blog.example'] }))],
  ['claims', 'an nbf that is a text', () => token(claims({ nbf: `${now()}` }))],
  ['early', 'an iat and an exp in ms', () => token(claims({ iat: Date.now(), exp: Date.now() + 60_000 }))],
  ['lifetime', 'an exp in ms', () => token(claims({ exp: Date.now() + 60_000 }))],
  ['early', 'an iat in an hour', () => token(claims({ iat: now() + 3600, exp: now() + 7200 }))],
  ['early', 'an nbf in an hour', () => token(claims({ nbf: now() + 3600 }))],
  ['primary_key', 'Ben’s token', () => signFor({ primaryKey: 'ben' })],
  ['primary_key', 'a token of another spelling', () => signFor({ primaryKey: 'Ann' })],
  ['primary_key', 'Ben’s expired token', () => token(claims({ sub: 'ben', iat: 1000, exp: 2000 }))],
  ['expired', 'Ann’s expired token', () => token(claims({ iat: now() - 60, exp: now() - 1 }))],
  ['expired', 'a token that expires now', () => token(claims({ iat: now() - 60, exp: now() }))],
];

/** The error that the page gets, which must not help to forge a token. */
const shown = (reason: string) =>
  ['expired', 'unknown_key', 'revoked_key'].includes(reason)
    ? 'signature: token-expired'
    : 'signature: expected an identity token that the relay accepts. Its log has the reason';

/** Two people whom the collector knows, each with a visitor id. */
const meet = async () => {
  const [ann, ben] = [createVisitor(), createVisitor()];
  await collector().batch(ann.identify('ann'), ben.identify('ben'));
  await collector().upsert('ann', { plan: 'free', email: 'ann@example.com' });
  return { ann, ben, customers: await collector().customers() };
};

/** An upsert's status and error. */
const set = async (relay: OpenRelay, properties: unknown, signature: unknown, primary_key = 'ann') => {
  const { status, json } = await relay.post(UPSERT, { primary_key, properties, signature });
  return [status, (json as { error?: string } | undefined)?.error];
};
const propertiesOfAnn = async () =>
  (await collector().customers()).find(({ primaryKey }) => primaryKey === 'ann')?.properties;

describe('63 an identity token that proves nothing', () => {
  it.each(FORGERIES)(
    '63 changes no customer, and only the operator gets the reason: %s, %s',
    async (reason, _, forge) => {
      const { ben, customers } = await meet();
      const lines: LogLine[] = [];
      const logger = (line: LogLine) => void lines.push(line);
      const relay = await openRelay({ logger, metricsPath: '/metrics' });
      const signature = await forge();
      const forged = { ...ben.identify('ann'), signature };
      const rejected = [{ uuid: forged.uuid, reason: shown(reason) }];
      const batch = [ben.event('before'), forged, ben.event('after')];
      expect(await relay.post(BATCH, { batch })).toMatchObject({ status: 201, json: { rejected } });
      expect(await relay.post(SINGLE, forged)).toMatchObject({ status: 200, json: { rejected } });
      for (const properties of [undefined, { plan: 'pro' }, { plan: null }])
        expect(await set(relay, properties, signature)).toEqual([422, shown(reason)]);
      expect(await collector().customers()).toEqual(customers);
      expect((await collector().events()).map(({ event }) => event)).toEqual([
        '$identify',
        '$identify',
        'before',
        'after',
      ]);
      const { text: metrics } = await relay.send('/metrics', { method: 'GET' });
      expect(metrics.match(/^clew_relay_refused_identities_total.*/gm)).toEqual([
        `clew_relay_refused_identities_total{reason="${reason}"} 5`,
      ]);
      const refusals = lines.filter(({ message }) => message.startsWith('identity refused: '));
      expect(refusals.map(({ level }) => level)).toEqual(Array(5).fill('warn'));
      if (typeof signature === 'string' && signature.length > 10)
        expect(JSON.stringify(lines)).not.toContain(signature);
      expect(JSON.stringify(lines)).not.toMatch(/secret-for|ann|ben/);
    },
  );

  it('63 has another line in the log for each reason', async () => {
    const texts = new Map<string, string>();
    const lines: string[] = [];
    const relay = await openRelay({ logger: ({ message }) => void lines.push(message) });
    for (const [reason, , forge] of FORGERIES) {
      lines.length = 0;
      await set(relay, undefined, await forge());
      const [line = ''] = lines.filter((message) => message !== 'request');
      expect(texts.get(reason) ?? line, reason).toBe(line);
      texts.set(reason, line);
    }
    expect(texts.size).toBe(13);
    expect(new Set(texts.values()).size).toBe(texts.size);
  });

  it('63 does not fill the log', async () => {
    const lines: LogLine[] = [];
    const relay = await openRelay({ logger: (line) => void lines.push(line) });
    const batch = Array.from({ length: 200 }, () => createVisitor().identify('ann'));
    await relay.post(BATCH, { batch });
    const refusals = lines.filter(({ message }) => message.startsWith('identity refused'));
    expect(refusals).toHaveLength(200);
    // The log has a limit for each second, and the refusals may fall into two seconds.
    expect(refusals.filter(({ level }) => level === 'warn').length).toBeLessThanOrEqual(20);
  });

  it('63 is not made by a duplicate key in the body, or by a token at another place', async () => {
    const { ben, customers } = await meet();
    const relay = await openRelay();
    const signature = await signFor({ primaryKey: 'ben', properties: { plan: 'free' } });
    const twice = JSON.stringify({ ...ben.identify('ben'), signature }).replace(
      '"distinct_id":"ben"',
      '"distinct_id":"ben","distinct_id":"ann"',
    );
    expect((await relay.post(BATCH, `{"batch":[${twice}]}`)).json).toMatchObject({ rejected: [{}] });
    const inside = { ...ben.identify('ann'), payload: { distinct_id: 'ann', signature } };
    expect((await relay.post(BATCH, { batch: [inside], signature })).json).toMatchObject({ rejected: [{}] });
    const keys = `{"primary_key":"ben","primary_key":"ann","signature":"${signature}"}`;
    expect((await relay.post(UPSERT, keys)).status).toBe(422);
    const values = `{"primary_key":"ben","properties":{"plan":"free","plan":"pro"},"signature":"${signature}"}`;
    expect((await relay.post(UPSERT, values)).status).toBe(422);
    expect(await collector().customers()).toEqual(customers);
  });
});

describe('63 an identity token', () => {
  const keysOf = { a: signingKeys(), old: signingKeys('old', `old ${SECRET}`) };
  const good: [what: string, make: () => Promise<string> | string][] = [
    ['of a secret', () => signFor()],
    ['of an Ed25519 key', () => signFor({}, { audience: AUDIENCE, keys: [{ id: 'ed', privateKey }] })],
    ['of a key that signs no more', () => signFor({}, keysOf.old)],
    ['without typ', () => token()],
    ['with optional claims that are null', () => token(claims({ nbf: null, properties: null }))],
    [
      'with the newer name of EdDSA',
      () => token(claims(), { alg: 'Ed25519', kid: 'ed' }, (signed) => eddsa(signed, privateKey)),
    ],
    ['with a list of audiences', () => token(claims({ aud: ['blog.example', AUDIENCE] }))],
    ['of a clock that is 50 s ahead', () => token(claims({ iat: now() + 50, nbf: now() + 50, exp: now() + 99 }))],
    ['with other claims', () => token(claims({ iss: 'app', jti: '1' }))],
    ['with a fraction of a second', () => token(claims({ exp: now() + 9.5 }))],
  ];
  it.each(good)('63 identifies on every endpoint, and is not forwarded: %s', async (_, make) => {
    const bodies: string[] = [];
    const relay = await openRelay({
      fetch: (address, init) => {
        bodies.push(`${init?.body}`);
        return fetch(address, init);
      },
    });
    const visitor = createVisitor();
    const signature = await make();
    const signed = { ...visitor.identify('ann'), signature };
    expect((await relay.post(BATCH, { batch: [signed] })).status).toBe(201);
    expect((await relay.post(SINGLE, { ...signed, uuid: crypto.randomUUID() })).status).toBe(201);
    expect(await set(relay, { plan: 'pro' }, signature)).toEqual([201, undefined]);
    expect(bodies).toHaveLength(3);
    expect(bodies.join()).not.toContain(signature);
    expect(await collector().customers()).toMatchObject([
      { primaryKey: 'ann', properties: { plan: 'pro' }, correlationValues: [visitor.correlationValue] },
    ]);
  });

  it('63 stays valid while keys rotate, until its key is revoked or removed', async () => {
    const before = await signFor({}, signingKeys('old', `old ${SECRET}`));
    const after = await signFor();
    const answers = [];
    for (const ring of [
      { ...identityKeys, keys: [{ id: 'old', secret: `old ${SECRET}` }] },
      identityKeys,
      { ...identityKeys, revoked: ['old'] },
      { ...identityKeys, keys: [{ id: 'a', secret: SECRET }] },
    ]) {
      const relay = await openRelay({ identityKeys: ring });
      answers.push([(await set(relay, {}, before))[0], (await set(relay, {}, after))[0]]);
    }
    expect(answers).toEqual([
      [201, 422],
      [201, 201],
      [422, 201],
      [422, 201],
    ]);
  });

  it('63 is accepted beside a plain signature, if identitySecret is set, too', async () => {
    const plain = await signPrimaryKey('a-plain-secret-of-enough-bytes!!', 'ann');
    const both = await openRelay({ identitySecret: 'a-plain-secret-of-enough-bytes!!' });
    expect(await set(both, { plan: 'a' }, plain)).toEqual([201, undefined]);
    expect(await set(both, { plan: 'b' }, await signFor())).toEqual([201, undefined]);
    const tokensOnly = await openRelay();
    expect((await set(tokensOnly, { plan: 'c' }, plain))[0]).toBe(422);
    expect(await propertiesOfAnn()).toEqual({ plan: 'b' });
  });

  it('63 waits in the page if the relay’s runtime lacks Ed25519, and the operator gets the cause', async () => {
    const { customers } = await meet();
    const cause = new DOMException('Unrecognized algorithm name', 'NotSupportedError');
    const { importKey } = crypto.subtle;
    const importing = vi.spyOn(crypto.subtle, 'importKey').mockImplementation(async (...given: unknown[]) => {
      if (given[0] === 'spki') throw cause;
      return Reflect.apply(importKey, crypto.subtle, given);
    });
    const onError = vi.fn();
    const relay = await openRelay({ onError });
    const signature = await signFor({}, { audience: AUDIENCE, keys: [{ id: 'ed', privateKey }] });
    const visitor = createVisitor();
    const batch = [{ ...visitor.identify('ann'), signature }];
    expect((await relay.post(BATCH, { batch })).status).toBe(503);
    expect(await set(relay, { plan: 'pro' }, signature)).toEqual([503, expect.any(String)]);
    expect(onError.mock.calls).toEqual([[cause], [cause]]);
    expect(await set(relay, {}, await signFor())).toEqual([201, undefined]);
    importing.mockRestore();
    expect(await collector().customers()).toEqual(customers);
  });

  it('63 is refused by a relay with a plain secret only', async () => {
    const { customers } = await meet();
    const plainOnly = await openPlainRelay();
    expect((await set(plainOnly, { plan: 'pro' }, await signFor()))[0]).toBe(422);
    expect(await collector().customers()).toEqual(customers);
  });
});

describe('63 a duplicate of a delivered $identify', () => {
  const rejectedOf = ({ json }: Reply) =>
    (json as { rejected?: { uuid: string; reason: string }[] } | undefined)?.rejected ?? [];

  /** A relay whose `seen` has the `$identify` of a relay that trusted its token, and counts its own round trips. */
  const openAfter = async (signature: string, options: Partial<RelayOptions> = {}) => {
    const seen = memorySeen();
    const before = await openRelay({ seen });
    const delivered = { ...createVisitor().identify('ann'), signature };
    const first = await before.post(BATCH, { batch: [delivered] });
    expect([first.status, rejectedOf(first)]).toEqual([201, []]);
    const reserve = vi.fn(seen.reserve);
    const relay = await openRelay({ seen: { ...seen, reserve }, metricsPath: '/metrics', ...options });
    const countsOf = async (name: string) => {
      const { text } = await relay.send('/metrics', { method: 'GET' });
      return [...text.matchAll(RegExp(`^clew_relay_${name}_total\\{\\w+="(\\w+)"\\} ([1-9]\\d*)`, 'gm'))].map(
        ([, what, count]) => `${what} ${count}`,
      );
    };
    return { seen, relay, delivered, reserve, countsOf };
  };

  it('63 is answered like the first one after its key is revoked', async () => {
    const onReport = vi.fn();
    const reportInterval = 3_600_000;
    const { relay, delivered, countsOf } = await openAfter(await signFor(), {
      identityKeys: { ...identityKeys, revoked: ['a'] },
      onReport,
      reportInterval,
    });
    const first = createVisitor();
    const answer = await relay.post(BATCH, { batch: [first.event('before'), delivered, first.event('after')] });
    expect([answer.status, rejectedOf(answer)]).toEqual([201, []]);
    const again = await relay.post(SINGLE, delivered);
    expect([again.status, rejectedOf(again)]).toEqual([200, []]);
    expect(await countsOf('refused_identities')).toEqual([]);
    expect(await countsOf('rejected_events')).toEqual([]);
    expect(await countsOf('events')).toEqual(['duplicate 2', 'forwarded 2', 'received 4']);
    expect((await collector().events()).map(({ event }) => event)).toEqual(['$identify', 'before', 'after']);
    await relay.close();
    expect(onReport.mock.calls).toMatchObject([[{ taken: 2, repeats: 2, rejected: 0 }]]);
  });

  it('63 is answered like the first one after its token has expired', async () => {
    const { relay, delivered } = await openAfter(await signFor({ expiresIn: 1 }));
    await vi.waitFor(async () => expect((await set(relay, {}, delivered.signature))[0]).toBe(422), { timeout: 10_000 });
    expect(rejectedOf(await relay.post(BATCH, { batch: [delivered] }))).toEqual([]);
  });

  it('63 leaves others rejected in the order of the batch, and gives up their reservations', async () => {
    const { relay, seen, delivered, countsOf } = await openAfter(await signFor(), {
      identityKeys: { ...identityKeys, revoked: ['a'] },
    });
    const [one, two] = [createVisitor().identify('ann'), createVisitor().identify('ann')];
    const signed = { ...one, signature: delivered.signature };
    const invalid = { ...createVisitor().event('a'), source: 7 };
    const batch = [signed, delivered, invalid, two, two];
    const rejected = rejectedOf(await relay.post(BATCH, { batch }));
    expect(rejected.map(({ uuid }) => uuid)).toEqual([one.uuid, invalid.uuid, two.uuid, two.uuid]);
    expect(rejected[0]?.reason).toBe(shown('revoked_key'));
    expect(await countsOf('refused_identities')).toEqual(['missing 2', 'revoked_key 1']);
    expect(await countsOf('events')).toEqual(['duplicate 1', 'received 5']);
    expect(await seen.reserve([one.uuid, two.uuid], 'another')).toEqual(['new', 'new']);
  });

  it('63 takes no further round trip to `seen`, and no id of its own handover', async () => {
    const { relay, delivered, reserve } = await openAfter(await signFor(), {
      identityKeys: { ...identityKeys, revoked: ['a'] },
    });
    await relay.post(BATCH, { batch: [createVisitor().event('a'), delivered] });
    expect(reserve).toHaveBeenCalledTimes(1);
    const own = await relay.post(BATCH, { batch: [delivered], handover: delivered.uuid });
    expect(own.status).toBe(400);
  });
});

describe('63 properties of an identity token', () => {
  const properties = { plan: 'free', tags: { b: [1, 'x'], a: null }, old: null };

  it.each<[string, unknown, string | undefined]>([
    ['the same value', { plan: 'free' }, undefined],
    ['the same value in another order', { tags: { a: null, b: [1, 'x'] } }, undefined],
    ['a signed deletion', { old: null }, undefined],
    ['another property', { name: 'Ann' }, undefined],
    ['another value', { plan: 'pro' }, 'plan: expected the value of the identity token'],
    ['another type', { plan: ['free'] }, 'plan: expected the value of the identity token'],
    ['an unsigned deletion of a signed property', { plan: null }, 'plan: expected the value of the identity token'],
    ['a value in place of a signed deletion', { old: 'x' }, 'old: expected the value of the identity token'],
    ['more in an object', { tags: { ...properties.tags, c: 1 } }, 'tags: expected the value of the identity token'],
    ['less in an object', { tags: { b: [1, 'x'] } }, 'tags: expected the value of the identity token'],
    ['another item', { tags: { a: null, b: [1, 'y'] } }, 'tags: expected the value of the identity token'],
    ['an object in place of a list', { tags: { a: null, b: { 0: 1, 1: 'x' } } }, 'tags: expected the value of the'],
    ['an unsigned deletion', { email: null }, 'email: expected a value. Only the identity token or allowedProperties'],
    ['one good and one bad', { plan: 'free', email: null }, 'email: expected a value. Only the identity token or'],
  ])('63 can be set to their values only: %s', async (_, set_, error) => {
    await meet();
    const before = await propertiesOfAnn();
    const relay = await openRelay();
    const [status, said] = await set(relay, set_, await signFor({ properties }));
    expect(said).toEqual(error && expect.stringContaining(`properties.${error}`));
    expect(status).toBe(error ? 422 : 201);
    if (error) expect(await propertiesOfAnn()).toEqual(before);
    else {
      const after = Object.entries({ ...before, ...(set_ as object) }).filter(([, value]) => value !== null);
      expect(await propertiesOfAnn()).toEqual(Object.fromEntries(after));
    }
  });

  it('63 are set beside allowedProperties, which covers the others and their deletion', async () => {
    await meet();
    const relay = await openRelay({ allowedProperties: ['email', 'old'] });
    const signature = await signFor({ properties: { plan: 'pro', old: 1 } });
    const reason = 'expected one of the relay option allowedProperties';
    expect(await set(relay, { plan: 'pro' }, signature)).toEqual([201, undefined]);
    expect(await set(relay, { email: null }, signature)).toEqual([201, undefined]);
    expect(await set(relay, { name: 'x' }, signature)).toEqual([422, `properties.name: ${reason}`]);
    expect(await set(relay, { name: null }, signature)).toEqual([422, `properties.name: ${reason}`]);
    expect((await set(relay, { old: null }, signature))[0]).toBe(422);
    expect((await set(relay, { plan: 'free' }, signature))[0]).toBe(422);
    // Without the property in the token, the page cannot set it at all.
    expect(await set(relay, { plan: 'free' }, await signFor())).toEqual([422, `properties.plan: ${reason}`]);
    expect(await propertiesOfAnn()).toEqual({ plan: 'pro' });
  });

  it('63 leave a plain signature as it was', async () => {
    await meet();
    const identitySecret = 'a-plain-secret-of-enough-bytes!!';
    const relay = await openRelay({ identitySecret });
    expect((await set(relay, { email: null }, await signPrimaryKey(identitySecret, 'ann')))[0]).toBe(201);
    expect(await propertiesOfAnn()).toEqual({ plan: 'free' });
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '63 are compared as names only: %s',
    async (name) => {
      await meet();
      const before = await propertiesOfAnn();
      const relay = await openRelay({ allowedProperties: ['name'] });
      const plain = await signFor({ properties: { plan: 'free' } });
      const body = (value: string, signature: string) =>
        `{"primary_key":"ann","properties":{"${name}":${value}},"signature":"${signature}"}`;
      expect((await relay.post(UPSERT, body('{"plan":"pro"}', plain))).status).toBe(422);
      expect((await relay.post(UPSERT, body('null', plain))).status).toBe(422);
      const signed = token(`${JSON.stringify(claims()).slice(0, -1)},"properties":{"${name}":{"plan":"pro"}}}`);
      expect((await relay.post(UPSERT, body('{"plan":"max"}', signed))).status).toBe(422);
      expect((await set(relay, { plan: 'pro' }, signed))[0]).toBe(422);
      expect(await propertiesOfAnn()).toEqual(before);
      expect('plan' in {}).toBe(false);
    },
  );
});
