import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useUpstream } from '../upstream.ts';
import { BATCH, event, forwarded, SINGLE, UPSERT, useRelays } from './stage.ts';

const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url, allowUnsignedUpsert: true }));
const nothingForwarded = () => expect(upstream.received).toEqual([]);
const GZIP = { 'Content-Encoding': 'gzip' };

describe('62 an invalid body', () => {
  it.each(['', '{"batch":[', '{"batch":[]}}', '{batch:[]}', "{'batch':[]}", '\ufeff\ufeff{}', '[]', 'NaN', '"', '\0'])(
    '62 is refused with 400 on all paths: %j',
    async (body) => {
      const relay = await openRelay();
      for (const path of [BATCH, SINGLE, UPSERT]) {
        const reply = await relay.post(path, body);
        expect(reply).toMatchObject({ status: 400, json: { error: expect.stringContaining('expected') } });
      }
      nothingForwarded();
    },
  );

  it.each(['{}', 'null', '"all"', '7', '{"0":{}}', '{"length":1}', 'true'])(
    '62 is refused with 400: the batch %s, which is not a list',
    async (batch) => {
      const relay = await openRelay();
      expect((await relay.post(BATCH, `{"batch":${batch}}`)).status).toBe(400);
      nothingForwarded();
    },
  );
});

describe('62 a body in gzip', () => {
  const whole = () => gzipSync(JSON.stringify({ batch: [event('zipped')] }));

  it('62 is accepted in one member and in several', async () => {
    const relay = await openRelay();
    const text = JSON.stringify({ batch: [event('halved')] });
    const halves = Buffer.concat([gzipSync(text.slice(0, 50)), gzipSync(text.slice(50))]);
    for (const body of [whole(), halves]) {
      expect((await relay.send(BATCH, { body, headers: GZIP })).status).toBe(201);
    }
    expect(forwarded(upstream)).toEqual([['zipped'], ['halved']]);
  });

  it.each<[string, (zipped: Buffer<ArrayBuffer>) => Buffer<ArrayBuffer>]>([
    ['without its end', (zipped) => zipped.subarray(0, -4)],
    ['cut in the middle', (zipped) => zipped.subarray(0, zipped.length / 2)],
    ['cut in its header', (zipped) => zipped.subarray(0, 5)],
    ['empty', () => Buffer.alloc(0)],
    ['not zipped at all', () => Buffer.from('{"batch":[]}')],
    [
      'with a wrong checksum',
      (zipped) => Buffer.concat([zipped.subarray(0, -8), Buffer.alloc(4), zipped.subarray(-4)]),
    ],
    ['with rubbish behind it', (zipped) => Buffer.concat([zipped, Buffer.from('rubbish')])],
  ])('62 is refused with 400: %s', async (_what, spoil) => {
    const relay = await openRelay();
    expect((await relay.send(BATCH, { body: spoil(whole()), headers: GZIP })).status).toBe(400);
    nothingForwarded();
    expect((await relay.send(BATCH, { body: whole(), headers: GZIP })).status).toBe(201);
  });

  it.each(['br', 'deflate', 'zstd', 'gzip, gzip', 'gzip, br', 'x-gzip', '__proto__'])(
    '62 of another encoding is refused with 415: %s',
    async (encoding) => {
      const relay = await openRelay();
      const reply = await relay.send(BATCH, { body: whole(), headers: { 'Content-Encoding': encoding } });
      expect(reply).toMatchObject({ status: 415, json: { error: expect.stringContaining(encoding) } });
      nothingForwarded();
    },
  );
});

/** Zeros in gzip. One MB is compressed once: after a full flush, blocks can be repeated (RFC 1951). The end has no checksum. */
const zerosInGzip = (megabytes: number): Buffer<ArrayBuffer> => {
  const head = gzipSync('').subarray(0, 10);
  const block = deflateRawSync(Buffer.alloc(1024 ** 2), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([head, ...Array<Buffer>(megabytes).fill(block)]);
};

describe('62 a body that is too large, for a relay in its own process', () => {
  const child = fork(join(import.meta.dirname, 'served.ts'), { execArgv: ['--import', 'tsx'] });
  let url: string;
  beforeAll(async () => {
    [url] = await once(child, 'message');
  });
  afterAll(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const peak = async (): Promise<number> => {
    child.send('peak');
    return (await once(child, 'message'))[0];
  };
  const post = async (body: BodyInit, headers = {}) => {
    const init = { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
    return (await fetch(url + BATCH, init)).status;
  };
  const good = () => JSON.stringify({ batch: [event('good')] });

  it('62 is refused with 413 before the rest of its 10 MB arrives', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const head = ['Host: relay', 'Content-Type: application/json', `Content-Length: ${10 * 1024 ** 2}`];
    socket.write(`POST ${BATCH} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${' '.repeat(102_401)}`);
    const [answer] = await once(socket, 'data');
    expect(`${answer}`).toMatch(/^HTTP\/1.1 413 /);
    socket.destroy();
    expect(await post(good())).toBe(201);
  });

  it('62 is inflated no further than the limit: ten bombs of 90 MB take little memory and time', async () => {
    // gzip compresses a thousand to one at most. The bomb itself is within the limit. The relay refuses a body that is compressed twice.
    const bomb = zerosInGzip(90);
    expect(bomb.length).toBeLessThan(102_400);
    expect(await post(good())).toBe(201);
    const [memory, start] = [await peak(), performance.now()];
    expect(await Promise.all(Array.from({ length: 10 }, () => post(bomb, GZIP)))).toEqual(Array(10).fill(413));
    expect(performance.now() - start).toBeLessThan(2_000);
    expect((await peak()) - memory).toBeLessThan(64 * 1024 ** 2);
    expect(await post(gzipSync(bomb), { 'Content-Encoding': 'gzip, gzip' })).toBe(415);
    expect(await post(gzipSync(good()), GZIP)).toBe(201);
  });
});
