import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from 'vitest';

/** A request that the server has received. */
export interface Received {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingMessage['headers'];
  text: string;
}

/** A real HTTP server that notes its requests and answers as a test chooses. */
export interface Upstream {
  url: string;
  received: Received[];
  /** The parsed bodies of all requests. */
  bodies(): unknown[];
  /** How to answer from now on, until the test's end. */
  answer(status: number, headers?: Record<string, string>, body?: string): void;
  /** Calls `respond` for each request, for answers that are not a whole response. */
  react(respond: (response: ServerResponse, request: Received) => void): void;
}

/** Has a server listen on a port of its own, or on the one named. */
export const listenOn = async (server: Server, port = 0): Promise<string> => {
  // A busy client may begin a request in the moment in which the server ends an idle connection.
  server.keepAliveTimeout = 0;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

export const closeServer = async (server: Server): Promise<void> => {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
};

/**
 * An address without a server, where a test may start one later. Systems choose the port for `listen(0)` from 32768 upwards,
 * so no other test takes this port in between.
 */
export const deadUrl = async (): Promise<string> => {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer();
    const isFree = await listenOn(server, port).catch(() => false);
    if (!isFree) continue;
    await closeServer(server);
    return `http://127.0.0.1:${port}`;
  }
};

/**
 * One server for the tests around it. Each test finds it empty, and answering 201 without a body, as the service does.
 *
 * @param always headers of every answer
 */
export const useUpstream = (always: Record<string, string> = {}): Upstream => {
  let respond: (response: ServerResponse, request: Received) => void;
  const server = createServer(async (request, response) => {
    const received = { method: request.method, path: request.url, headers: request.headers, text: await text(request) };
    upstream.received.push(received);
    respond(response, received);
  });
  const upstream: Upstream = {
    url: '',
    received: [],
    bodies: () => upstream.received.map((request) => JSON.parse(request.text)),
    answer: (status, headers = {}, body = '') =>
      upstream.react((response) => response.writeHead(status, { ...always, ...headers }).end(body)),
    react: (how) => {
      respond = how;
    },
  };
  beforeAll(async () => {
    upstream.url = await listenOn(server);
  });
  beforeEach(() => {
    upstream.received.length = 0;
    upstream.answer(201);
  });
  afterAll(() => closeServer(server));
  return upstream;
};
