import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createRelay, type RelayOptions, toService } from '../../src/relay.ts';
import { closeServer, deadUrl, listenOn, useUpstream } from '../upstream.ts';
import { requestOf } from './requests.ts';
import { event, KEY } from './stage.ts';

const upstream = useUpstream();
const servers: Server[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await Promise.all(servers.splice(0).map(closeServer));
});

const newRelay = (options: Partial<RelayOptions> = {}) =>
  createRelay({ baseUrl: upstream.url, apiKey: KEY, ...options });
const batch = () => requestOf({ batch: [event('a')] });
const passOn: typeof fetch = (input, init) => fetch(input, init);
/** A service that counts its connections. */
const countConnections = async () => {
  let connections = 0;
  const server = createServer((request, response) => request.resume().on('end', () => response.writeHead(201).end()));
  server.on('connection', () => {
    connections++;
  });
  servers.push(server);
  return { url: await listenOn(server), count: () => connections };
};

describe('a redirect of the service', () => {
  describe.each<[string, Partial<RelayOptions>]>([
    ['Node’s `http`', {}],
    ['a `fetch` of the owner’s', { fetch: passOn }],
  ])('by %s', (_how, options) => {
    it.each([301, 302, 303, 307, 308])('%i is not followed: the page gets 502 and keeps its events', async (status) => {
      const errors: unknown[] = [];
      upstream.react((response, { path }) =>
        path === '/portal'
          ? response.writeHead(200).end('welcome')
          : response.writeHead(status, { Location: '/portal' }).end(),
      );
      const reply = await newRelay({ ...options, onError: (error) => errors.push(`${error}`) })(batch());
      expect(reply.status).toBe(502);
      expect(await reply.json()).toEqual({ error: 'the service did not answer' });
      expect(reply.headers.get('Retry-After')).toBe('1');
      expect(upstream.received.map(({ path }) => path)).toEqual(['/api/events/batch/']);
      expect(errors).toEqual(['Error: a redirect']);
    });
  });

  it('is not followed in runtimes without `redirect: error`', async () => {
    const strict: typeof fetch = (input, init) => {
      if (init?.redirect === 'error') throw new TypeError('Invalid redirect value');
      return fetch(input, init);
    };
    const relay = newRelay({ fetch: strict });
    expect((await relay(batch())).status).toBe(201);
    upstream.answer(302, { Location: '/portal' });
    expect((await relay(batch())).status).toBe(502);
    expect(upstream.received).toHaveLength(2);
  });

  it('is not followed in runtimes that hide its status, as browsers do', async () => {
    const errors: unknown[] = [];
    const hidden = { type: 'opaqueredirect', status: 0, headers: new Headers(), text: async () => '' };
    const relay = newRelay({
      fetch: async () => hidden as unknown as Response,
      onError: (error) => errors.push(`${error}`),
    });
    expect((await relay(batch())).status).toBe(502);
    expect(errors).toEqual(['Error: a redirect']);
  });
});

describe('an answer of the service', () => {
  const answerWith = (status: number) =>
    toService({
      baseUrl: 'https://service.example',
      eventsUrl: 'https://service.example',
      apiKey: KEY,
      timeout: 1000,
      fetch: async () => ({ status, headers: new Headers(), text: async () => '' }) as unknown as Response,
    })({ path: '/api/events/batch/', body: '{}' });

  it.each([
    [199, false],
    [200, true],
    [299, true],
    [400, false],
  ])('%i counts as a confirmation: %j', async (status, ok) => {
    expect(await answerWith(status)).toMatchObject({ ok, status });
  });

  it.each([300, 399])('%i counts as a redirect', async (status) => {
    await expect(answerWith(status)).rejects.toMatchObject({ status: 502, cause: new Error('a redirect') });
  });
});

describe('an answer whose body does not end', () => {
  const start = (response: ServerResponse, status: number, type: string) =>
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': '100' });
  const ends: [string, (response: ServerResponse) => void][] = [
    ['breaks off', (response) => void response.write('{"id"', () => setTimeout(() => response.destroy(), 20))],
    ['stalls', (response) => void response.write('{"id"')],
    ['stalls before its first byte', (response) => response.flushHeaders()],
  ];

  describe.each<[string, Partial<RelayOptions>]>([
    ['Node’s `http`', {}],
    ['a `fetch` of the owner’s', { fetch: passOn }],
  ])('by %s', (_how, options) => {
    it.each(ends)('counts if it is a 2xx that %s: the request is not forwarded again', async (_what, end) => {
      const errors: unknown[] = [];
      upstream.react((response) => end(start(response, 201, 'application/json')));
      const relay = newRelay({ timeout: 400, ...options, onError: (error) => errors.push(error) });
      const body = { batch: [event('a')] };
      const beacon = requestOf(body, { headers: { 'Content-Type': 'text/plain' } });
      expect((await relay(beacon)).status).toBe(201);
      // The page that sends the events again gets the relay's answer to duplicates.
      expect((await relay(requestOf(body))).status).toBe(200);
      expect(upstream.received).toHaveLength(1);
      expect(errors).toEqual([]);
    });

    it('has the text that has arrived, without the key and the beginning of one', async () => {
      upstream.react((response) =>
        start(response, 201, 'text/plain').write(`${KEY}, ${KEY.slice(0, -1)}`, () =>
          setTimeout(() => response.destroy(), 20),
        ),
      );
      expect(await (await newRelay(options)(batch())).json()).toEqual({ message: '…, …' });
    });

    it.each(
      ends.flatMap(([what, end]) =>
        ([400, 413, 429] as const).map((status): [number, string, typeof end] => [status, what, end]),
      ),
    )('has its status and `Retry-After` if it is a %i that %s', async (status, _what, end) => {
      upstream.react((response) =>
        end(start(response.setHeader('Retry-After', '7') && response, status, 'application/json')),
      );
      const reply = await newRelay({ timeout: 400, ...options })(batch());
      expect([reply.status, reply.headers.get('Retry-After')]).toEqual([status, '7']);
    });

    it.each(ends)('is a 500 that %s: the relay sends a beacon once, and the page bisects', async (_what, end) => {
      upstream.react((response) => end(start(response, 500, 'application/json')));
      const beacon = requestOf({ batch: [event('a')] }, { headers: { 'Content-Type': 'text/plain' } });
      const reply = await newRelay({ timeout: 400, ...options })(beacon);
      expect([reply.status, await reply.json()]).toEqual([502, { error: 'the service answered 500', status: 500 }]);
      expect(upstream.received).toHaveLength(1);
    });

    it('is a failure, which `onError` receives, if it is a 2xx of HTML', async () => {
      const errors: unknown[] = [];
      upstream.react((response) => ends[0]?.[1](start(response, 201, 'text/html')));
      const reply = await newRelay({ ...options, onError: (error) => errors.push(error) })(batch());
      expect([reply.status, await reply.json()]).toEqual([502, { error: 'the service did not answer' }]);
      expect(errors).toEqual([expect.any(Error)]);
    });
  });

  it('ends its connection after `timeout`', async () => {
    const gone = new Promise<void>((resolve) => {
      upstream.react((response) => start(response, 201, 'text/plain').once('close', resolve).flushHeaders());
    });
    expect((await newRelay({ timeout: 400 })(batch())).status).toBe(201);
    await gone;
  });
});

describe('over Node’s `http`', () => {
  it('one connection carries one request after the other', async () => {
    const service = await countConnections();
    const relay = newRelay({ baseUrl: service.url });
    for (let time = 0; time < 3; time++) {
      expect((await relay(batch())).status).toBe(201);
      // The agent takes a connection back one turn after the answer.
      await new Promise(setImmediate);
    }
    expect(service.count()).toBe(1);
  });

  it('the relay closes an unused connection before Node’s servers do', () => {
    const options: { keepAlive?: boolean; timeout?: number }[] = [];
    const load = process.getBuiltinModule;
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) => {
      const module = load(name as 'node:http');
      class Agent extends module.Agent {
        constructor(given: object) {
          super(given);
          options.push(given);
        }
      }
      return { ...module, Agent };
    }) as typeof process.getBuiltinModule);
    newRelay();
    expect(options).toHaveLength(2);
    for (const { keepAlive, timeout = 0 } of options) {
      expect(keepAlive).toBe(true);
      expect(timeout).toBeGreaterThan(1000);
      expect(timeout).toBeLessThan(createServer().keepAliveTimeout);
    }
  });

  it('the relay uses TLS for an https address, however its scheme is written', async () => {
    for (const scheme of ['https', 'HTTPS']) {
      const server = createTcpServer();
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const first = once(server, 'connection').then(async ([socket]) => {
        const [bytes] = await once(socket, 'data');
        socket.destroy();
        return bytes[0];
      });
      const { port } = server.address() as { port: number };
      const reply = await newRelay({ baseUrl: `${scheme}://127.0.0.1:${port}` })(batch());
      // The type of a TLS record with a handshake: RFC 8446, section 5.1.
      expect(await first).toBe(22);
      expect(reply.status).toBe(502);
      server.close();
    }
  });

  it('an answer in several pieces arrives whole, even if a piece ends inside a character', async () => {
    const text = '"é😀"';
    const bytes = Buffer.from(text);
    upstream.react((response) => {
      response.writeHead(400, { 'Content-Type': 'application/json' });
      response.write(bytes.subarray(0, 4), () => response.end(bytes.subarray(4)));
    });
    const reply = await newRelay()(batch());
    expect(reply.headers.get('Content-Type')).toBe('application/json');
    expect(await reply.text()).toBe(text);
  });

  it('the relay ends the connection of a request that it gives up', async () => {
    const gone = new Promise<void>((resolve) => {
      upstream.react((response) => response.once('close', resolve));
    });
    const errors: unknown[] = [];
    const relay = newRelay({ timeout: 20, onError: (error) => errors.push(`${error}`) });
    expect((await relay(batch())).status).toBe(504);
    await gone;
    expect(errors).toEqual(['TimeoutError: the service did not answer within 20 ms']);
  });

  it('the relay does not use the global `fetch`', async () => {
    const global = vi.fn();
    vi.stubGlobal('fetch', global);
    expect((await newRelay()(batch())).status).toBe(201);
    expect(global).not.toHaveBeenCalled();
  });
});

describe('the relay uses the global `fetch`, looked up for each request,', () => {
  it.each([
    ['in Deno', () => vi.stubGlobal('navigator', { userAgent: 'Deno/2.1' })],
    ['in a worker with Node’s `process`', () => vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })],
    ['where `process` gives no modules', () => vi.stubGlobal('process', { env: {} })],
    ['where there is no `process`', () => vi.stubGlobal('process', undefined)],
  ])('%s', async (_where, enter) => {
    enter();
    const relay = newRelay({ baseUrl: 'https://service.example' });
    // The test restores `process` before anything else runs, because vitest needs it.
    vi.unstubAllGlobals();
    const requests: [unknown, RequestInit | undefined][] = [];
    vi.stubGlobal('fetch', async (url: unknown, init?: RequestInit) => {
      requests.push([url, init]);
      return new Response('{}', { status: 201, headers: { 'Content-Type': 'application/json' } });
    });
    const reply = await relay(batch());
    expect([reply.status, await reply.text()]).toEqual([201, '{}']);
    expect(requests).toEqual([
      [
        'https://service.example/api/events/batch/',
        expect.objectContaining({
          method: 'POST',
          redirect: 'manual',
          headers: { Authorization: `Api-Key ${KEY}`, 'Content-Type': 'application/json' },
          body: expect.stringMatching(/^\{"batch":\[/),
        }),
      ],
    ]);
  });

  it('not in Node 20, whose navigator has no user agent', async () => {
    vi.stubGlobal('navigator', undefined);
    const global = vi.fn();
    vi.stubGlobal('fetch', global);
    expect((await newRelay()(batch())).status).toBe(201);
    expect(global).not.toHaveBeenCalled();
  });
});

it('the relay reports the reason of a failed `fetch` to `onError`, and not to the page', async () => {
  const errors: unknown[] = [];
  const reason = new Error('10.0.0.7 refuses');
  const relay = newRelay({ fetch: () => Promise.reject(reason), onError: (error) => errors.push(error) });
  const reply = await relay(batch());
  expect(reply.status).toBe(502);
  expect(await reply.json()).toEqual({ error: 'the service did not answer' });
  expect(errors).toEqual([reason]);
  const dead = newRelay({ baseUrl: await deadUrl(), onError: (error) => errors.push(error) });
  await dead(batch());
  expect(errors[1]).toMatchObject({ code: 'ECONNREFUSED' });
});
