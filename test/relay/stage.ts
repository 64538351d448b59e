import { randomUUID } from 'node:crypto';
import { EventEmitter, on } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, expect } from 'vitest';
import { createRelay, memorySeen, type Relay, type RelayOptions, type Seen, toNodeHandler } from '../../src/relay.ts';
import { closeServer, listenOn, type Upstream } from '../upstream.ts';

export const KEY = 'the-secret-key';
export const BATCH = '/clew/api/events/batch/';
export const UPSERT = '/clew/api/customers/upsert';
export const SINGLE = '/clew/events/';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  json: unknown;
}

/** A relay behind a socket. */
export interface OpenRelay {
  url: string;
  server: Server;
  close: Relay['close'];
  send(path: string, init: RequestInit & { duplex?: 'half' }): Promise<Reply>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
}

/** Opens relays, and closes them at the end of the file. The function calls `defaults` for each relay, because addresses are known late. */
export const useRelays = (defaults: () => Partial<RelayOptions>) => {
  const servers: Server[] = [];
  afterAll(() => Promise.all(servers.filter(({ listening }) => listening).map(closeServer)));
  return async (options: Partial<RelayOptions> = {}): Promise<OpenRelay> => {
    const relay = createRelay({ apiKey: KEY, ...defaults(), ...options });
    const server = createServer(toNodeHandler(relay));
    servers.push(server);
    const url = await listenOn(server);
    const send: OpenRelay['send'] = async (path, init) => {
      const response = await fetch(url + path, {
        method: 'POST',
        ...init,
        headers: { 'Content-Type': 'application/json', ...init.headers },
      });
      return readReply(response);
    };
    return {
      url,
      server,
      close: relay.close,
      send,
      post: (path, body, headers = {}) =>
        send(path, { body: typeof body === 'string' ? body : JSON.stringify(body), headers }),
    };
  };
};

/** Reads an answer, and checks that it does not contain the key. */
const readReply = async (response: Response): Promise<Reply> => {
  const { status, headers } = response;
  const text = await response.text();
  expect(text + JSON.stringify([...headers])).not.toContain(KEY);
  const isJson = text && headers.get('content-type')?.includes('json');
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
};

/** A valid event of a new visitor. */
export const event = (name: string, more: object = {}) => ({
  uuid: randomUUID() as string,
  timestamp: new Date().toISOString(),
  event: name,
  source: 'custom',
  correlationKey: '_id',
  correlationValue: randomUUID() as string,
  payload: { name } as unknown,
  ...more,
});

/** The names of the forwarded events, request by request. */
export const forwarded = (upstream: Upstream): string[][] =>
  upstream
    .bodies()
    .map((body) => body as { batch?: { event: string }[]; event: string })
    .map(({ batch, event }) => batch?.map((each) => each.event) ?? [event]);

/** The service answers when the test does. `next` waits for the next request. */
export const holdAnswers = (upstream: Upstream) => {
  const arrivals = new EventEmitter();
  const requests = on(arrivals, 'request');
  upstream.react((response) => arrivals.emit('request', response));
  const next = async (): Promise<ServerResponse> => (await requests.next()).value[0];
  return { next, answer: async (status: number) => void (await next()).writeHead(status).end() };
};

/** `memorySeen`, and `isWaitedFor`, which resolves when a request has begun to wait for another. */
export const watchSeen = () => {
  const seen = memorySeen();
  const looks = new EventEmitter();
  const waits = on(looks, 'pending');
  return {
    seen: {
      ...seen,
      async reserve(uuids, owner) {
        const states = await seen.reserve(uuids, owner);
        if (states.includes('pending')) looks.emit('pending');
        return states;
      },
    } satisfies Seen,
    isWaitedFor: async () => void (await waits.next()),
  };
};

/** Expects that no input has changed `Object.prototype`. */
export const expectPristine = () => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.getPrototypeOf(Object.prototype)).toBeNull();
  expect('polluted' in {}).toBe(false);
};
