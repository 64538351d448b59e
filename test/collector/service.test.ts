import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createVisitor, KEY, useCollector } from './running.ts';

const running = useCollector();
const ENDPOINTS = ['/api/customers/upsert', '/api/events/batch/', '/events/'];
const MAX_BODY = 102_400;

const visitor = createVisitor();
const GOOD: Record<string, () => object> = {
  '/api/customers/upsert': () => ({ primary_key: 'ada' }),
  '/api/events/batch/': () => ({ batch: [visitor.event('e')] }),
  '/events/': () => visitor.event('e'),
};
const bodyFor = (path: string) => JSON.stringify(GOOD[path]?.());
/** A batch of exactly `bytes` bytes. */
const bodyOf = (bytes: number) => {
  const body = (fill: number) => JSON.stringify({ batch: [visitor.event('e', 'x'.repeat(fill))] });
  return body(bytes - body(0).length);
};
const send = (path: string, init: RequestInit & { duplex?: 'half' }) =>
  fetch(running().url + path, {
    method: 'POST',
    ...init,
    headers: { authorization: `Api-Key ${KEY}`, 'content-type': 'application/json', ...init.headers },
  });

describe('answers', () => {
  it('return the id of the customer after an upsert', async () => {
    const response = await send('/api/customers/upsert', { body: bodyFor('/api/customers/upsert') });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ id: (await running().customers())[0]?.id });
  });

  it.each(['/api/events/batch/', '/events/'])('have no body and no content type after %s', async (path) => {
    const response = await send(path, { body: bodyFor(path) });
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBeNull();
    expect(await response.text()).toBe('');
  });

  it.each(ENDPOINTS)('are the same for %s with and without a slash at the end', async (path) => {
    const bare = path.replace(/\/$/, '');
    for (const address of [bare, `${bare}/`]) expect((await send(address, { body: bodyFor(path) })).status).toBe(201);
  });

  it.each(['/api/', '/api/events/batch/x', '/api//events/batch/', '/api/customers', '/events//', '/events/x'])(
    'are 404 in JSON for %s',
    async (path) => {
      const response = await send(path, { body: '{}' });
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ error: `POST ${path} is no endpoint` });
    },
  );

  it('are 404 for other methods', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await running().request(method, '/api/events/batch/')).status).toBe(404);
    }
  });
});

describe('authorisation', () => {
  const missing = 'the Authorization header is missing: expected "Api-Key <key>"';
  const scheme = 'unknown authorisation scheme: expected "Api-Key <key>"';
  const key = 'unknown API key';

  it.each<[string, Record<string, string>, string]>([
    ['no header', {}, missing],
    ['a wrong key', { authorization: 'Api-Key wrong' }, key],
    ['a longer key', { authorization: `Api-Key ${KEY}x` }, key],
    ['no key', { authorization: 'Api-Key' }, scheme],
    ['the key alone', { authorization: KEY }, scheme],
    ['a bearer', { authorization: `Bearer ${KEY}` }, scheme],
    ['another spelling', { authorization: `api-key ${KEY}` }, scheme],
    ['two spaces', { authorization: `Api-Key  ${KEY}` }, key],
    ['a header of another name', { 'x-api-key': KEY }, missing],
  ])('refuses %s on every endpoint', async (_name, headers, error) => {
    for (const path of ENDPOINTS) {
      const response = await fetch(running().url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: bodyFor(path),
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({ error });
    }
    expect(await running().events()).toEqual([]);
  });

  it('ignores a key in the address', async () => {
    const response = await fetch(`${running().url}/events/?api_key=${KEY}`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  });
});

describe('request bodies', () => {
  it.each<[string, RegExp]>([
    ['', /^malformed JSON: the body is empty$/],
    ['{"batch":[', /^malformed JSON: Unexpected end/],
    ['batch=1', /^malformed JSON: Unexpected token/],
  ])('are refused as malformed: %j', async (body, error) => {
    for (const path of ENDPOINTS) {
      const response = await send(path, { body });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
    }
  });

  it('are refused for a wrong field, with a sentence that names it', async () => {
    const response = await send('/events/', {
      body: JSON.stringify({ ...visitor.event('e'), correlationValue: 'ABC' }),
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ error: 'correlationValue: expected a lower-case UUID, received "ABC"' });
  });

  it.each(['text/plain', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'application/jsonx'])(
    'are refused with the content type %s',
    async (type) => {
      for (const path of ENDPOINTS) {
        const response = await send(path, { body: bodyFor(path), headers: { 'content-type': type } });
        expect(response.status).toBe(415);
        expect(await response.json()).toEqual({
          error: `Content-Type: expected application/json, received ${type}`,
        });
      }
    },
  );

  it('are refused without a content type', async () => {
    const response = await fetch(`${running().url}/events/`, {
      method: 'POST',
      headers: { authorization: `Api-Key ${KEY}` },
      body: new TextEncoder().encode(bodyFor('/events/')),
    });
    expect(response.status).toBe(415);
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON'])(
    'are accepted with the content type %s',
    async (type) => {
      expect((await send('/events/', { body: bodyFor('/events/'), headers: { 'content-type': type } })).status).toBe(
        201,
      );
    },
  );

  it('have bytes that are not UTF-8 replaced', async () => {
    const body = Buffer.from(bodyFor('/events/').replace('"e"', '"e\xff"'), 'latin1');
    expect((await send('/events/', { body })).status).toBe(201);
    expect((await running().events())[0]?.event).toBe('e\ufffd');
  });
});

describe('the size limit', () => {
  const tooLarge = { error: 'the body is larger than 102400 bytes' };
  const inPieces = (body: string | Uint8Array): BodyInit => {
    const bytes = Buffer.from(body);
    return new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 4_000) controller.enqueue(bytes.subarray(at, at + 4_000));
        controller.close();
      },
    });
  };

  it('accepts a body of exactly the limit, with a Content-Length and in chunks', async () => {
    const body = bodyOf(MAX_BODY);
    expect(body).toHaveLength(MAX_BODY);
    expect((await send('/api/events/batch/', { body })).status).toBe(201);
    const pieces = inPieces(bodyOf(MAX_BODY));
    expect((await send('/api/events/batch/', { body: pieces, duplex: 'half' })).status).toBe(201);
  });

  it.each([MAX_BODY + 1, MAX_BODY * 3])('refuses %i bytes, with a Content-Length and in chunks', async (bytes) => {
    for (const path of ENDPOINTS) {
      for (const body of [bodyOf(bytes), inPieces(bodyOf(bytes))]) {
        const response = await send(path, { body, duplex: 'half' });
        expect(response.status).toBe(413);
        expect(await response.json()).toEqual(tooLarge);
      }
    }
    expect(await running().events()).toEqual([]);
  });

  it('reads on after a refusal, so that the sender gets the answer', async () => {
    const body = inPieces(bodyOf(MAX_BODY * 20));
    expect((await send('/events/', { body, duplex: 'half' })).status).toBe(413);
    expect((await send('/events/', { body: bodyFor('/events/') })).status).toBe(201);
  });

  it('closes the connection after excessive amounts and answers the next request', async () => {
    const body = inPieces(bodyOf(MAX_BODY * 200));
    // A sender that is still writing when the connection closes may see EPIPE in place of the answer.
    const status = await send('/events/', { body, duplex: 'half' }).then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect((await send('/events/', { body: bodyFor('/events/') })).status).toBe(201);
  });

  it('counts bytes, not characters', async () => {
    const body = JSON.stringify({ batch: [visitor.event('e', '漢'.repeat(40_000))] });
    expect((await send('/api/events/batch/', { body })).status).toBe(413);
  });

  it('counts the bytes of a gzipped body after inflation', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const fitting = gzipSync(bodyOf(MAX_BODY));
    expect((await send('/api/events/batch/', { body: fitting, headers })).status).toBe(201);
    expect((await send('/api/events/batch/', { body: inPieces(fitting), headers, duplex: 'half' })).status).toBe(201);
    const response = await send('/api/events/batch/', { body: gzipSync(bodyOf(MAX_BODY + 1)), headers });
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual(tooLarge);
  });

  it('accepts a gzipped body that gzip made larger than the limit', async () => {
    const body = gzipSync(bodyOf(MAX_BODY), { level: 0 });
    expect(body.length).toBeGreaterThan(MAX_BODY);
    expect((await send('/api/events/batch/', { body, headers: { 'content-encoding': 'gzip' } })).status).toBe(201);
  });

  it('refuses a body that is named gzip and is truncated or not gzip', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const cut = gzipSync(bodyFor('/events/')).subarray(0, -9);
    for (const body of [bodyFor('/events/'), cut]) {
      const response = await send('/events/', { body, headers });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: 'the body is not valid gzip' });
    }
    const response = await send('/events/', { body: 'x', headers: { 'content-encoding': 'br' } });
    expect(response.status).toBe(415);
    expect(await response.json()).toEqual({ error: 'Content-Encoding: expected gzip or none, received br' });
  });
});

describe('browsers of other origins', () => {
  it.each(ENDPOINTS)('may send preflights to %s without a key', async (path) => {
    const response = await fetch(running().url + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(response.status).toBe(204);
    const header = (name: string) => response.headers.get(`access-control-${name}`);
    expect(header('allow-origin')).toBe('*');
    expect(header('allow-methods')).toBe('POST');
    expect(header('allow-headers')).toBe('authorization,content-type,content-encoding');
    expect(header('max-age')).toBe('86400');
    expect(header('allow-credentials')).toBeNull();
  });

  it('may read every answer, also refusals', async () => {
    const authorised = { authorization: `Api-Key ${KEY}`, origin: 'https://shop.example' };
    for (const [path, headers, body, status] of [
      ['/events/', authorised, bodyFor('/events/'), 201],
      ['/events/', authorised, '{', 400],
      ['/events/', authorised, bodyOf(MAX_BODY * 2), 413],
      ['/events/', { authorization: '' }, '{}', 401],
      ['/events/x', authorised, '{}', 404],
    ] as const) {
      const response = await send(path, { headers, body });
      expect(response.status).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After');
    }
  });

  it('may not read the interface of the demo', async () => {
    const response = await fetch(`${running().url}/inspect/events`, { headers: { origin: 'https://shop.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});
