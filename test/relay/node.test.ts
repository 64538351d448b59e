import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, createServer as createHttp2Server, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { createRelay, type RelayOptions, type RelayRequest, toNodeHandler } from '../../src/relay.ts';
import { openConnection } from '../mounts/connection.ts';
import { BATCH, event } from '../mounts/events.ts';
import { closeServer, listenOn, useUpstream } from '../upstream.ts';

const upstream = useUpstream();
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const serve = async (handle: RequestListener) => {
  const server = createServer(handle);
  cleanUps.push(() => closeServer(server));
  return { server, url: await listenOn(server) };
};
const openTo = async (url: string) => {
  const connection = await openConnection(url);
  cleanUps.push(() => connection.socket.destroy());
  return connection;
};
const newRelay = (options?: Partial<RelayOptions>) =>
  createRelay({ baseUrl: upstream.url, apiKey: 'the-secret-key', ...options });
/** A relay on Node's server, and a connection to it. */
const openRelay = async () => {
  const relay = newRelay();
  const { server, url } = await serve(toNodeHandler(relay));
  return { relay, server, url, ...(await openTo(url)) };
};
/** Answers with the result of `see` for the web request. */
const show = (see: (request: RelayRequest) => unknown) =>
  toNodeHandler(async (request) => Response.json((await see(request)) ?? null));
const chunksOf = (body: RelayRequest['body']) => (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();

const batch = (name: string, payload: unknown = {}) => JSON.stringify({ batch: [event(name, { payload })] });
const large = (bytes: number) => batch('large', 'x'.repeat(bytes));
const chunk = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`;
const CHUNKED = 'Host: a.example\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const names = () => upstream.bodies().map((body) => (body as { batch: { event: string }[] }).batch[0]?.event);

describe('a body that the relay does not read to its end', () => {
  it.each([
    ['of a known length', (body: string) => [`Content-Length: ${body.length}\r\nHost: a.example\r\n`, body]],
    ['in chunks', (body: string) => ['Host: a.example\r\nTransfer-Encoding: chunked\r\n', chunk(body) + chunk('')]],
  ])('%s: the next request of its connection is served after any refusal', async (_how, write) => {
    const { write: send, post, reply } = await openRelay();
    const refuse = async (method: string, more = '') => {
      const [headers, body] = write(large(1_000_000));
      send(`${method} ${BATCH} HTTP/1.1\r\n${more}${headers}\r\n${body}`);
      post(BATCH, batch(method + more));
      return [(await reply()).status, (await reply()).status];
    };
    expect(await refuse('POST', 'Content-Type: application/json\r\n')).toEqual([413, 201]);
    expect(await refuse('POST', 'Content-Type: text/html\r\n')).toEqual([415, 201]);
    expect(await refuse('PUT')).toEqual([405, 201]);
    expect(await refuse('TRACE')).toEqual([405, 201]);
    expect(await refuse('GET')).toEqual([405, 201]);
    expect(upstream.received).toHaveLength(5);
  });

  it('that inflates over the limit does not block the next request of its connection', async () => {
    const { post, reply } = await openRelay();
    post(BATCH, gzipSync(large(50_000_000)), { 'Content-Encoding': 'gzip' });
    post(BATCH, batch('good'));
    expect([(await reply()).status, (await reply()).status]).toEqual([413, 201]);
  });

  it('that never ends is answered, and then its connection is closed', async () => {
    const { server, url } = await serve(toNodeHandler(newRelay()));
    const accepted = once(server, 'connection');
    const { socket, write, reply, closed } = await openTo(url);
    const [accepting] = await accepted;
    write(`POST ${BATCH} HTTP/1.1\r\n${CHUNKED}`);
    const piece = chunk('x'.repeat(65_536));
    const pour = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', pour);
    pour();
    expect((await reply()).status).toBe(413);
    await closed();
    expect(accepting.bytesRead).toBeGreaterThan(4_194_304);
    expect(accepting.bytesRead).toBeLessThan(2 * 4_194_304);
  });

  it('may continue after the handler has answered', async () => {
    let giveUp = () => {};
    const givenUp = new Promise<void>((resolve) => {
      giveUp = resolve;
    });
    const { url } = await serve((request, response) => {
      const arrived = new Promise((resolve) => request.once('data', resolve));
      const handle = show(async ({ body }) => {
        // The handler asks for a chunk, and then does not wait for it.
        chunksOf(body).next();
        giveUp();
        await arrived;
      });
      return handle(request, response);
    });
    const { write, reply } = await openTo(url);
    write(`POST / HTTP/1.1\r\n${CHUNKED}`);
    await givenUp;
    write(chunk('late') + chunk(''));
    expect((await reply()).status).toBe(200);
  });

  it('is not read into memory while the handler is slow', async () => {
    let goOn = () => {};
    const isAsked = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { server, url } = await serve(
      show(async (request) => {
        if (request.method === 'GET') return;
        const chunks = chunksOf(request.body);
        let bytes = (await chunks.next()).value.length;
        await isAsked;
        for (let part = await chunks.next(); !part.done; part = await chunks.next()) bytes += part.value.length;
        return bytes;
      }),
    );
    const accepted = once(server, 'connection');
    const slow = await openTo(url);
    const [accepting] = await accepted;
    const bytes = 64 * 1024 * 1024;
    slow.post('/', Buffer.alloc(bytes));
    // These requests give the server time to read more of the slow body than it should.
    const other = await openTo(url);
    for (let i = 0; i < 100; i++) {
      other.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
      await other.reply();
    }
    expect(accepting.bytesRead).toBeLessThan(1_000_000);
    goOn();
    expect((await slow.reply()).text).toBe(`${bytes}`);
  });
});

describe('an aborted upload', () => {
  const PART = '{"batch":[';
  it.each([
    ['of a known length', `Host: a.example\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n${PART}`],
    ['in chunks', `${CHUNKED}${chunk(PART)}`],
    ['before its first byte', CHUNKED],
    ['in gzip', `Content-Encoding: gzip\r\n${CHUNKED}${chunk('\x1f')}`],
  ])('%s: is noticed by the relay, which forwards nothing and can close', async (_how, request) => {
    const relay = newRelay();
    let begin = (_answer: Promise<Response>) => {};
    const begun = new Promise<{ answer: Promise<Response> }>((resolve) => {
      begin = (answer) => resolve({ answer });
    });
    const { url } = await serve(
      toNodeHandler((request) => {
        const answer = relay(request);
        begin(answer);
        return answer;
      }),
    );
    const { socket, write } = await openTo(url);
    write(`POST ${BATCH} HTTP/1.1\r\n${request}`);
    const { answer } = await begun;
    socket.destroy();
    expect((await answer).status).toBe(400);
    await relay.close();
    expect(upstream.received).toEqual([]);
  });

  it('is noticed if the app aborts it, as by a time-out', async () => {
    const relay = newRelay();
    const { url } = await serve(async (request, response) => {
      request.once('data', () => setImmediate(() => request.destroy()));
      await toNodeHandler(relay)(request, response);
    });
    const { write, closed } = await openTo(url);
    write(`POST ${BATCH} HTTP/1.1\r\n${CHUNKED}${chunk(PART)}`);
    await closed();
    await relay.close();
    expect(upstream.received).toEqual([]);
  });

  it('by invalid chunks closes only its own connection', async () => {
    const { url, write, closed } = await openRelay();
    write(`POST ${BATCH} HTTP/1.1\r\n${CHUNKED}${chunk(PART)}xyz\r\n`);
    await closed();
    const { post, reply } = await openTo(url);
    post(BATCH, batch('good'));
    expect((await reply()).status).toBe(201);
    expect(names()).toEqual(['good']);
  });

  it('is noticed if it aborts before the relay is called, as behind a slow middleware', async () => {
    const relay = newRelay();
    const handle = toNodeHandler(relay);
    let leave = () => {};
    const served = new Promise<void>((resolve) => {
      serve(async (request, response) => {
        leave();
        request.on('error', () => {});
        await new Promise<void>((gone) => request.once('close', gone));
        await handle(request, response);
        resolve();
      }).then(async ({ url }) => {
        const { socket, write } = await openTo(url);
        leave = () => socket.destroy();
        write(`POST ${BATCH} HTTP/1.1\r\n${CHUNKED}${chunk(PART)}`);
      });
    });
    await served;
    await relay.close();
    expect(upstream.received).toEqual([]);
  });
});

describe('an answer', () => {
  it('has a Content-Length and no chunks', async () => {
    const { post, reply } = await openRelay();
    post(BATCH, '{}');
    const { headers, text } = await reply();
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'content-length': `${text.length}` });
    expect(headers).not.toHaveProperty('transfer-encoding');
  });

  it('has no body for HEAD, neither body nor length for OPTIONS, and keeps the connection', async () => {
    const { write, post, reply } = await openRelay();
    write(`HEAD ${BATCH} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
    expect((await reply('HEAD')).status).toBe(405);
    for (const target of [BATCH, '*']) {
      write(`OPTIONS ${target} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
      const { status, headers } = await reply();
      expect(status).toBe(204);
      expect(headers).not.toHaveProperty('content-length');
      expect(headers).not.toHaveProperty('transfer-encoding');
    }
    post(BATCH, batch('good'));
    expect((await reply()).status).toBe(201);
  });

  it('is not given twice if other code has answered meanwhile', async () => {
    const relay = newRelay();
    const handle = toNodeHandler(relay);
    const { url } = await serve((request, response) => {
      response.writeHead(504).end();
      return handle(request, response);
    });
    const { post, reply } = await openTo(url);
    for (const name of ['a', 'b']) {
      post(BATCH, batch(name));
      expect((await reply()).status).toBe(504);
    }
    await relay.close();
  });
});

describe('the Request object for the relay', () => {
  it('has all values of a repeated header', async () => {
    const { url } = await serve(show(({ headers }) => ['X-Tag', 'x-tag', 'None'].map((name) => headers.get(name))));
    const { write, reply } = await openTo(url);
    write('GET / HTTP/1.1\r\nHost: a.example\r\nX-Tag: a\r\nX-Tag: b\r\n\r\n');
    expect(JSON.parse((await reply()).text)).toEqual(['a, b', 'a, b', null]);
  });

  it.each([
    ['/clew/events/?a=1', '/clew/events/'],
    ['//', '//'],
    ['//events.example/events/', '//events.example/events/'],
    ['http://other.example/clew/events/', '/clew/events/'],
    ['http://name:word@other.example/clew/events/', '/clew/events/'],
    ['HTTPS://other.example:99999/clew/events/', '/clew/events/'],
    ['http://other.example', '/'],
    ['http://other.example?/x', '/'],
    ['/%C3%A9/events/', '/%C3%A9/events/'],
    ['/%/%zz/events/', '/%/%zz/events/'],
    ['/a/../b/./events/', '/b/events/'],
    ['/http://other.example/events/', '/http://other.example/events/'],
  ])('for %s has the path %s', async (target, path) => {
    const { url } = await serve(show((request) => new URL(request.url).pathname));
    const { write, reply } = await openTo(url);
    write(`GET ${target} HTTP/1.1\r\nHost: a b/c@[\r\n\r\n`);
    expect(JSON.parse((await reply()).text)).toBe(path);
  });
});

describe('over HTTP/2', () => {
  const open = async (options?: Partial<RelayOptions>) => {
    const relay = newRelay(options);
    const server: Http2Server = createHttp2Server(toNodeHandler(relay));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    cleanUps.push(async () => {
      const closed = once(server, 'close');
      session.destroy();
      server.close();
      await closed;
    });
    const begin = (method = 'POST') =>
      session.request({ ':method': method, ':path': BATCH, 'content-type': 'application/json' }, { endStream: false });
    const call = async (method: string, body = '') => {
      const stream = begin(method);
      // The relay may refuse a request early, while the stream still writes.
      stream.on('error', () => {});
      const answered = once(stream, 'response');
      stream.end(body);
      const [headers] = await answered;
      return { status: headers[':status'], text: await text(stream) };
    };
    return { relay, server, session, begin, call };
  };

  it('a body that does not come is answered 408, and its stream is closed', async () => {
    const { begin, session } = await open({ bodyTimeout: 50 });
    const warnings: Error[] = [];
    const warn = (warning: Error) => void warnings.push(warning);
    process.on('warning', warn);
    cleanUps.push(() => process.off('warning', warn));
    const stream = begin();
    stream.write('{"batch":[');
    let body = '';
    stream.on('data', (chunk) => {
      body += chunk;
    });
    const closed = once(stream, 'close');
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(408);
    await closed;
    expect(JSON.parse(body)).toEqual({ error: expect.any(String) });
    expect(session.destroyed).toBe(false);
    expect(warnings).toEqual([]);
  });

  it('requests are served as over HTTP/1: batches, bodies over the limit, HEAD and OPTIONS', async () => {
    const { call } = await open();
    expect(await call('POST', batch('a'))).toEqual({ status: 201, text: '' });
    expect((await call('POST', large(200_000))).status).toBe(413);
    expect(await call('HEAD')).toEqual({ status: 405, text: '' });
    expect(await call('OPTIONS')).toEqual({ status: 204, text: '' });
    expect(await call('POST', batch('b'))).toEqual({ status: 201, text: '' });
    expect(names()).toEqual(['a', 'b']);
  });

  it('an aborted upload is noticed and does not affect other requests of its connection', async () => {
    const { relay, server, begin, call } = await open();
    const stream = begin();
    stream.on('error', () => {});
    const asked = once(server, 'request');
    stream.write('{"batch":[');
    await asked;
    stream.close(8);
    expect((await call('POST', batch('a'))).status).toBe(201);
    await relay.close();
    expect(names()).toEqual(['a']);
  });

  it('an upload whose whole connection is aborted is noticed', async () => {
    const { relay, server, session, begin } = await open();
    const stream = begin();
    stream.on('error', () => {});
    const asked = once(server, 'request');
    stream.write('{"batch":[');
    await asked;
    session.destroy();
    await relay.close();
    expect(upstream.received).toEqual([]);
  });
});

describe('in Express, behind', () => {
  const open = async (before?: express.RequestHandler) => {
    const app = express();
    if (before) app.use(before);
    app.use('/clew', toNodeHandler(newRelay()));
    return openTo((await serve(app)).url);
  };

  it.each([
    ['nothing', undefined],
    ['express.json()', express.json()],
    ['express.text()', express.text({ type: '*/*' })],
    ['express.raw()', express.raw({ type: '*/*' })],
    ['express.urlencoded(), which leaves JSON alone', express.urlencoded()],
  ])('%s, batches arrive, also in gzip', async (_what, parser) => {
    const { post, reply } = await open(parser);
    post(BATCH, batch('é😀'));
    expect((await reply()).status).toBe(201);
    post(BATCH, gzipSync(batch('b')), { 'Content-Encoding': 'gzip' });
    expect((await reply()).status).toBe(201);
    post(BATCH, batch('c'), { 'Content-Type': 'text/plain' });
    expect((await reply()).status).toBe(201);
    post(BATCH, '');
    expect((await reply()).status).toBe(400);
    expect(names()).toEqual(['é😀', 'b', 'c']);
  });

  it('a body parser with a larger limit, the limit of the relay applies', async () => {
    const { post, reply } = await open(express.json({ limit: '10mb' }));
    post(BATCH, large(200_000));
    expect((await reply()).status).toBe(413);
  });

  it('a middleware that has consumed the body, the answer names the cause, and the connection stays open', async () => {
    const { post, reply } = await open((request, _response, next) => {
      request.resume().once('end', next);
    });
    for (const name of ['a', 'b']) {
      post(BATCH, batch(name));
      const { status, text } = await reply();
      expect(status).toBe(500);
      expect(JSON.parse(text)).toEqual({
        error: 'the body has been read already: mount the relay before body parsers',
      });
    }
    expect(upstream.received).toEqual([]);
  });

  it('a middleware that has consumed the beginning of the body, the answer names the cause', async () => {
    const { post, reply } = await open((request, _response, next) => {
      request.once('data', () => {
        request.pause();
        setImmediate(next);
      });
    });
    post(BATCH, large(1_000_000));
    expect((await reply()).status).toBe(500);
    post(BATCH, batch('b'));
    expect((await reply()).status).toBe(500);
  });
});
