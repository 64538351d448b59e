import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RelayOptions } from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event, SINGLE } from './stage.ts';
import { AUDIENCE, claims, pair, token } from './tokens.ts';

const TEXT = JSON.stringify({ batch: [event('é😀')] });
const BYTES = Buffer.from(TEXT);
const GZIP = { 'Content-Encoding': 'gzip' };

/** A body that arrives in these pieces, and how many the relay has taken. */
const inPieces = (pieces: Uint8Array[], headers: Record<string, string> = {}) => {
  const taken: number[] = [];
  const body = (async function* () {
    for (const piece of pieces) {
      taken.push(piece.length);
      yield piece;
    }
  })();
  return { request: { ...requestOf('', { headers }), body }, taken };
};
const cut = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
const open = (options: Partial<RelayOptions> = {}) => {
  const { relay, received } = openInMemory(options);
  const names = () =>
    received.flatMap(({ body }) => JSON.parse(body).batch.map((each: { event: string }) => each.event));
  return { relay, received, names };
};

describe('a body is read whole', () => {
  it.each([1, 7, 100, 1_000_000])('in pieces of %i bytes', async (size) => {
    const { relay, names } = open();
    expect((await relay(inPieces(cut(BYTES, size)).request)).status).toBe(201);
    expect(names()).toEqual(['é😀']);
  });

  it.each([1, 7, 1_000_000])('in gzip, in pieces of %i bytes', async (size) => {
    const { relay, names } = open();
    for (const encoding of ['gzip', 'GZIP']) {
      const { request } = inPieces(cut(gzipSync(TEXT), size), { 'Content-Encoding': encoding });
      expect((await relay(request)).status).toBe(encoding === 'gzip' ? 201 : 200);
    }
    expect(names()).toEqual(['é😀']);
  });

  it('from a stream, as of a web `Request`', async () => {
    const { relay, names } = open();
    const init = { method: 'POST', body: TEXT, headers: { 'Content-Type': 'application/json' } };
    expect((await relay(new Request('https://shop.example/clew/api/events/batch/', init))).status).toBe(201);
    expect(names()).toEqual(['é😀']);
  });

  it.each<[string, (request: Request) => unknown]>([
    ['read', (request) => request.json()],
    ['begun to read', (request) => request.body?.getReader().read()],
    ['locked', (request) => request.body?.getReader()],
    ['given on', (request) => new Request(request)],
  ])('and a web `Request` whose body a middleware has %s is answered 500 with the cause', async (_, use) => {
    const { relay, received } = open();
    const init = { method: 'POST', body: TEXT, headers: { 'Content-Type': 'application/json' } };
    const request = new Request('https://shop.example/clew/api/events/batch/', init);
    const copy = request.clone();
    await use(request);
    const answer = await relay(request);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({
      error: 'the body has been read already: mount the relay before body parsers',
    });
    expect(received).toEqual([]);
    expect((await relay(copy)).status).toBe(201);
  });

  it('and a request without a body is refused with 400', async () => {
    const { relay } = open();
    expect((await relay({ ...requestOf(''), body: null })).status).toBe(400);
  });
});

it('a relay whose runtime cannot inflate answers gzip 503, and the operator gets the cause', async () => {
  const onError = vi.fn();
  const { relay, received, names } = open({ onError });
  const post = () => relay(inPieces([gzipSync(TEXT)], GZIP).request);
  vi.stubGlobal('DecompressionStream', undefined);
  const answer = await post();
  vi.unstubAllGlobals();
  expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '1']);
  expect(await answer.json()).toEqual({ error: 'this relay cannot inflate gzip' });
  expect(onError.mock.calls).toEqual([[expect.any(TypeError)]]);
  expect(received).toEqual([]);
  await post();
  expect(names()).toEqual(['é😀']);
});

it('20 bodies of 100,000 pieces at once fit into a heap of 48 MB', async () => {
  const relay = join(import.meta.dirname, '../../dist/relay.js');
  const script = `
    const { createRelay } = await import(${JSON.stringify(pathToFileURL(relay).href)});
    const relay = createRelay({ forward: async () => new Response(null, { status: 201 }) });
    let whole = 0;
    let release;
    const all = new Promise((resolve) => { release = resolve; });
    const post = () => relay({
      method: 'POST',
      url: 'https://shop.example/clew/api/events/batch/',
      headers: new Headers({ 'Content-Type': 'application/json' }),
      body: (async function* () {
        for (let n = 0; n < 100_000; n++) yield new Uint8Array([32]);
        if (++whole === 20) release();
        await all;
        yield new TextEncoder().encode('{"batch":[]}');
      })(),
    });
    const replies = await Promise.all(Array.from({ length: 20 }, post));
    console.log(replies.map(({ status }) => status).join());
  `;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=48',
    '--input-type=module',
    '--eval',
    script,
  ]);
  expect(stdout.trim()).toBe(Array.from({ length: 20 }, () => 200).join());
});

it('a malformed Host, of which a runtime makes an invalid address, is answered 400', async () => {
  const onError = vi.fn();
  const { relay } = openInMemory({ onError });
  const answer = await relay({ ...requestOf({ batch: [] }), url: 'http://a b/clew/api/events/batch/' });
  expect([answer.status, await answer.json()]).toEqual([400, { error: 'expected a valid Host' }]);
  expect(onError).not.toHaveBeenCalled();
});

it('a token of another algorithm ends no process whose runtime lacks Ed25519', async () => {
  // A spy would handle the rejection.
  const importKey = () => Promise.reject(new DOMException('none', 'NotSupportedError'));
  Object.defineProperty(crypto.subtle, 'importKey', { value: importKey, configurable: true });
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => {
    Reflect.deleteProperty(crypto.subtle, 'importKey');
    process.off('unhandledRejection', unhandled);
  });
  const { publicKey } = pair();
  const { relay } = openInMemory({ identityKeys: { audience: AUDIENCE, keys: [{ id: 'ed', publicKey }] } });
  const signature = token(claims(), { alg: 'HS256', kid: 'ed' });
  const identify = { ...event('$identify', { payload: { distinct_id: 'ann' } }), signature };
  const answer = await relay(requestOf({ batch: [identify] }));
  await new Promise(setImmediate);
  expect([answer.status, unhandled.mock.calls]).toEqual([200, []]);
});

it('an id that is no UUID is not repeated in the answer', async () => {
  const { relay } = open();
  const reply = await relay(requestOf({ batch: [{ uuid: 'x'.repeat(10_000) }, { uuid: 'short' }] }));
  const { rejected } = await reply.json();
  expect(rejected.map(({ uuid }: { uuid: string }) => uuid)).toEqual(['', 'short']);
});

describe('a body over the limit is answered 413', () => {
  it.each<[string, Record<string, string>, Uint8Array]>([
    ['as it is', {}, BYTES],
    ['inflated', GZIP, gzipSync(TEXT)],
  ])('measured to the byte, %s', async (_how, headers, body) => {
    const exact = open({ maxBodyBytes: BYTES.length });
    expect((await exact.relay(inPieces(cut(body, 20), headers).request)).status).toBe(201);
    const tight = open({ maxBodyBytes: BYTES.length - 1 });
    const reply = await tight.relay(inPieces(cut(body, 20), headers).request);
    expect([reply.status, await reply.json()]).toEqual([
      413,
      { error: `expected a body of at most ${BYTES.length - 1} bytes` },
    ]);
    expect(tight.received).toEqual([]);
  });

  it('and is not read further', async () => {
    const { relay } = open({ maxBodyBytes: 100 });
    const { request, taken } = inPieces(Array.from({ length: 50 }, () => new Uint8Array(60)));
    expect((await relay(request)).status).toBe(413);
    expect(taken).toHaveLength(2);
  });

  it('even if gzip of that size inflates to nothing', async () => {
    const { relay } = open({ maxBodyBytes: 100 });
    const empty = gzipSync('');
    const { request } = inPieces(
      Array.from({ length: 10 }, () => empty),
      GZIP,
    );
    expect((await relay(request)).status).toBe(413);
  });
});

it.each<[string, Uint8Array]>([
  ['truncated', gzipSync(TEXT).subarray(0, -4)],
  ['text', BYTES],
  ['empty', new Uint8Array(0)],
])('gzip that is %s is refused with 400 and a reason', async (_what, body) => {
  const { relay, received } = open();
  const reply = await relay(inPieces([body], GZIP).request);
  expect(reply.status).toBe(400);
  expect((await reply.json()).error).toMatch(/^(unreadable body|expected JSON): \w/);
  expect(received).toEqual([]);
});

it('a truncated body is refused with 400 and the reason', async () => {
  for (const headers of [{}, GZIP]) {
    const { relay, received } = open();
    const body = (async function* () {
      yield gzipSync(TEXT).subarray(0, 20);
      throw new Error('it broke off');
    })();
    const reply = await relay({ ...requestOf('', { headers }), body });
    expect([reply.status, await reply.json()]).toEqual([400, { error: 'unreadable body: Error: it broke off' }]);
    expect(received).toEqual([]);
  }
});

describe('a forwarded event', () => {
  it('has the fields of the contract, in their order, and nothing else', async () => {
    const { relay, received } = open();
    const known = event('a');
    await relay(requestOf({ batch: [{ seq: [1, 1], signature: 'x', admin: true, ...known }], more: 1 }));
    expect(received).toEqual([{ path: '/api/events/batch/', body: JSON.stringify({ batch: [known] }) }]);
  });

  it('has no timestamp on the single-event endpoint', async () => {
    const { relay, received } = open();
    const { timestamp, ...rest } = event('a');
    await relay(requestOf({ ...rest, timestamp }, { path: SINGLE }));
    expect(received).toEqual([{ path: '/events/', body: JSON.stringify(rest) }]);
  });

  it('without a uuid is forwarded each time it arrives', async () => {
    const { relay, names } = open();
    const { uuid: _, ...nameless } = event('nameless');
    const twice = event('twice');
    for (let time = 0; time < 2; time++) await relay(requestOf({ batch: [nameless, twice, nameless, twice] }));
    expect(names()).toEqual(['nameless', 'twice', 'nameless', 'nameless', 'nameless']);
  });

  it('is not in the answer, which names a rejected one with its uuid', async () => {
    const { relay } = open();
    const bad = event('bad', { source: 'x' });
    const reply = await relay(requestOf({ batch: [null, bad, event('good'), event('odd', { uuid: 7 })] }));
    expect([reply.status, await reply.json()]).toEqual([
      201,
      {
        rejected: [
          { uuid: '', reason: 'expected an object, got null' },
          { uuid: bad.uuid, reason: 'source: expected "custom", got "x"' },
          { uuid: '', reason: 'uuid: expected a lower-case UUID, got 7' },
        ],
      },
    ]);
  });
});

describe('a failing `seen` store', () => {
  const failing = (method: 'reserve' | 'confirm' | 'release', errors: unknown[]) =>
    open({
      onError: (error) => errors.push(error),
      seen: {
        reserve: async (uuids) => uuids.map(() => 'new'),
        confirm: async () => {},
        release: async () => {},
        [method]: () => Promise.reject(new Error('Redis is down')),
      },
    });

  it('in reserve: nothing is forwarded, the page gets 503, and `onError` the reason', async () => {
    const errors: unknown[] = [];
    const { relay, received } = failing('reserve', errors);
    const reply = await relay(requestOf(TEXT));
    expect([reply.status, reply.headers.get('Retry-After'), await reply.json()]).toEqual([
      503,
      '1',
      { error: 'the relay cannot read which events are confirmed' },
    ]);
    expect(received).toEqual([]);
    expect(errors).toEqual([new Error('Redis is down')]);
  });

  it('in confirm: the page still gets the answer of the service', async () => {
    const { relay, received } = failing('confirm', []);
    expect((await relay(requestOf(TEXT))).status).toBe(201);
    expect(received).toHaveLength(1);
  });
});
