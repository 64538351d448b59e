import { describe, expect, it } from 'vitest';
import { signPrimaryKey } from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { BATCH, event, SINGLE, UPSERT } from './stage.ts';

const SECRET = 'an-identity-secret-of-enough-bytes';
const open = (options: object = {}, secret: object = { identitySecret: SECRET }) => {
  const { relay, received } = openInMemory({ ...secret, ...options });
  const post = async (path: string, body: unknown) => {
    const response = await relay(requestOf(body, { path }));
    const text = await response.text();
    return { status: response.status, json: text ? JSON.parse(text) : undefined };
  };
  return { post, bodies: () => received.map(({ body }) => JSON.parse(body)), received };
};
const openWithoutSecret = (options: object = {}) => open(options, {});
const identify = (distinct_id: string, signature?: unknown) =>
  event('$identify', { payload: { distinct_id }, signature });
const UNSIGNED = 'signature: expected HMAC-SHA256 of the primary key, in hex, made with the identity secret';

describe('with `identitySecret`, an `$identify`', () => {
  it('is forwarded without its signature, if that matches its primary key', async () => {
    const { post, bodies } = open();
    const signed = identify('ann', await signPrimaryKey(SECRET, 'ann'));
    expect((await post(BATCH, { batch: [signed] })).status).toBe(201);
    const { signature: _, ...forwarded } = signed as typeof signed & { signature: string };
    expect(bodies()).toEqual([{ batch: [forwarded] }]);
  });

  it.each<[string, (sign: (key: string) => Promise<string>) => unknown]>([
    ['missing', () => undefined],
    ['of another person', (sign) => sign('ben')],
    ['of another secret', () => signPrimaryKey(`another ${SECRET}`, 'ann')],
    ['in upper case', async (sign) => (await sign('ann')).toUpperCase()],
    ['too short', async (sign) => (await sign('ann')).slice(0, 62)],
    ['too long', async (sign) => `${await sign('ann')}00`],
    ['preceded by more', async (sign) => `00${await sign('ann')}`],
    ['followed by a line break', async (sign) => `${await sign('ann')}\n`],
    ['not hex', () => 'x'.repeat(64)],
    ['a list', async (sign) => [await sign('ann')]],
  ])('is rejected by name and the other events are forwarded, if the signature is %s', async (_what, forge) => {
    const { post, bodies } = open();
    const forged = identify('ann', await forge((key) => signPrimaryKey(SECRET, key)));
    const others = [event('before'), event('after')];
    expect(await post(BATCH, { batch: [others[0], forged, others[1]] })).toEqual({
      status: 201,
      json: { rejected: [{ uuid: forged.uuid, reason: UNSIGNED }] },
    });
    expect(await post(SINGLE, forged)).toEqual({
      status: 200,
      json: { rejected: [{ uuid: forged.uuid, reason: UNSIGNED }] },
    });
    expect(bodies()).toEqual([{ batch: others }]);
  });

  it('is forwarded unsigned with `allowUnsignedIdentify`, with a secret or without', async () => {
    for (const openOne of [open, openWithoutSecret]) {
      const { post, bodies } = openOne({ allowUnsignedIdentify: true });
      await post(BATCH, { batch: [identify('ann', 'whatever')] });
      expect(bodies()[0].batch[0]).not.toHaveProperty('signature');
    }
  });

  it('is rejected without a secret, with the options that would allow it', async () => {
    const { post, received } = openWithoutSecret();
    const unsigned = identify('ann', 'whatever');
    const reason =
      'signature: expected the relay option identityKeys, identitySecret or allowUnsignedIdentify, which accept identities';
    expect(await post(BATCH, { batch: [unsigned] })).toEqual({
      status: 200,
      json: { rejected: [{ uuid: unsigned.uuid, reason }] },
    });
    expect(received).toEqual([]);
  });
});

describe('an upsert', () => {
  const properties = { plan: 'pro', old: null };

  it('is forwarded without its signature, if that matches its primary key', async () => {
    const { post, bodies } = open();
    const signature = await signPrimaryKey(SECRET, 'ann');
    expect((await post(UPSERT, { primary_key: 'ann', properties, signature, admin: true })).status).toBe(201);
    expect(bodies()).toEqual([{ primary_key: 'ann', properties }]);
  });

  it('is refused with 422 and the reason, if its signature is missing or of another key', async () => {
    const { post, received } = open();
    for (const signature of [undefined, await signPrimaryKey(SECRET, 'ben')])
      expect(await post(UPSERT, { primary_key: 'ann', signature })).toEqual({ status: 422, json: { error: UNSIGNED } });
    expect(received).toEqual([]);
  });

  it('is forwarded unsigned with `allowUnsignedUpsert`', async () => {
    for (const openOne of [open, openWithoutSecret]) {
      const { post, bodies } = openOne({ allowUnsignedUpsert: true });
      expect((await post(UPSERT, { primary_key: 'ann', properties })).status).toBe(201);
      expect(bodies()).toEqual([{ primary_key: 'ann', properties }]);
    }
  });

  it('is refused with 422 and the options that would allow it, without a secret', async () => {
    const { post } = openWithoutSecret();
    expect(await post(UPSERT, { primary_key: 'ann' })).toEqual({
      status: 422,
      json: {
        error:
          'expected the relay option identityKeys, identitySecret or allowUnsignedUpsert, which accept customer properties',
      },
    });
  });

  it.each<[object, string]>([
    [{}, 'primary_key: expected a non-empty string, got nothing'],
    [{ primary_key: '' }, 'primary_key: expected a non-empty string, got ""'],
    [{ primary_key: 'x'.repeat(501) }, 'primary_key: expected at most 500 characters, got 501'],
    [{ primary_key: 'ann\ud800' }, 'primary_key: expected well-formed Unicode, got half of a surrogate pair'],
    [{ primary_key: ['ann'] }, 'primary_key: expected a non-empty string, got ["ann"]'],
    [{ primary_key: 'ann', properties: [] }, 'properties: expected an object'],
    [{ primary_key: 'ann', properties: null }, 'properties: expected an object'],
  ])('of %j is refused with 400 and the field', async (body, error) => {
    const { post } = open({ allowUnsignedUpsert: true });
    expect(await post(UPSERT, body)).toEqual({ status: 400, json: { error } });
  });

  it.each(['1e400', '-1e400'])('is refused with 400 and the name of a property that is %s', async (number) => {
    const { post } = open({ allowUnsignedUpsert: true });
    expect(await post(UPSERT, `{"primary_key":"ann","properties":{"fine":1,"seats":${number}}}`)).toEqual({
      status: 400,
      json: { error: 'properties.seats: expected a finite number' },
    });
  });
});

describe('a refusal names the reason:', () => {
  it('a path that the service does not have', async () => {
    const { post } = open();
    for (const path of ['/', '/clew/xevents', '/api/events/batch/x']) {
      expect(await post(path, {})).toEqual({
        status: 404,
        json: { error: 'path: expected /api/customers/upsert, /api/events/batch/ or /events/' },
      });
    }
  });

  it('a batch that is not a list', async () => {
    const { post } = open();
    expect(await post(BATCH, { batch: {} })).toEqual({
      status: 400,
      json: { error: 'batch: expected an array of events' },
    });
  });

  it('a body that is not JSON, or not an object', async () => {
    const { post } = open();
    expect(await post(BATCH, '{')).toEqual({
      status: 400,
      json: { error: expect.stringMatching(/^expected JSON: Synt/) },
    });
    expect(await post(BATCH, '[]')).toEqual({ status: 400, json: { error: 'expected a JSON object' } });
  });

  it('a method other than POST', async () => {
    const { relay } = openInMemory();
    const reply = await relay(requestOf('{}', { method: 'PUT' }));
    expect([reply.status, await reply.json()]).toEqual([405, { error: 'expected POST, got PUT' }]);
  });

  it.each([
    ['', 'none'],
    ['text/html', 'text/html'],
    ['xapplication/json', 'xapplication/json'],
    ['application/jsonx', 'application/jsonx'],
    ['text/plainer', 'text/plainer'],
  ])('a content type other than JSON or text: %j', async (type, named) => {
    const { relay } = openInMemory();
    const reply = await relay(requestOf('{}', { headers: { 'Content-Type': type } }));
    expect([reply.status, await reply.json()]).toEqual([
      415,
      { error: `Content-Type: expected application/json or text/plain, got ${named}` },
    ]);
  });

  it.each(['br', 'gzip, gzip', 'xgzip', 'gzipx'])('an encoding other than gzip: %s', async (encoding) => {
    const { relay } = openInMemory();
    const reply = await relay(requestOf('{}', { headers: { 'Content-Encoding': encoding } }));
    expect([reply.status, await reply.json()]).toEqual([
      415,
      { error: `Content-Encoding: expected gzip, got ${encoding}` },
    ]);
  });

  it('a body that is too large', async () => {
    const { relay } = openInMemory({ maxBodyBytes: 10 });
    const reply = await relay(requestOf(' '.repeat(11)));
    expect([reply.status, await reply.json()]).toEqual([413, { error: 'expected a body of at most 10 bytes' }]);
  });
});

describe('a content type is accepted', () => {
  it.each(['application/json', 'APPLICATION/JSON ; charset=utf-8', 'application/json;a', 'text/plain', 'Text/Plain'])(
    '%s',
    async (type) => {
      const { relay } = openInMemory();
      const reply = await relay(requestOf({ batch: [event('a')] }, { headers: { 'Content-Type': type } }));
      expect(reply.status).toBe(201);
    },
  );
});

it('`identity` as an encoding means uncompressed', async () => {
  const { relay } = openInMemory();
  const reply = await relay(requestOf({ batch: [] }, { headers: { 'Content-Encoding': 'Identity' } }));
  expect(reply.status).toBe(200);
});
