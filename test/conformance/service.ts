import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { parseJson } from '../../src/wire.ts';

/** A request that the relay has forwarded. */
export interface Forwarded {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Stands in for the service: it remembers what a relay forwards, and answers 201 without a body. */
export interface StandIn {
  readonly url: string;
  /** Since the last `clear`, in order. */
  readonly forwarded: Forwarded[];
  /** Forgets what was forwarded, and answers 201 again. */
  clear(): void;
  /** Answers each request with this status from now on. 0 breaks the connection. */
  answer(status: number, headers?: Readonly<Record<string, string>>, body?: string): void;
  /** Breaks off the body of each answer from now on. */
  breakBodies(): void;
  /** Keeps the answer to the next request until the returned function is called, or `clear`. */
  hold(): () => void;
  /** Resolves once a request has arrived since the last `clear` whose body contains this text. */
  arrived(text: string): Promise<void>;
  close(): Promise<void>;
}

/** @param port 0 for any */
export const startService = async (port = 0): Promise<StandIn> => {
  const forwarded: Forwarded[] = [];
  const waiting = new Set<() => void>();
  let status = 201;
  let headers: Readonly<Record<string, string>> = {};
  let body = '';
  let isBroken = false;
  let held: Promise<void> | undefined;
  let release = () => {};
  const server = createServer(async (request, response) => {
    const came = await text(request);
    // A relay forwards only JSON.
    forwarded.push({ path: request.url ?? '', headers: request.headers, body: parseJson(came) ?? came });
    for (const look of waiting) look();
    const own = held;
    held = undefined;
    await own;
    if (!status) response.destroy();
    else if (isBroken) response.writeHead(status, { 'Content-Length': 2 }).write('{', () => response.destroy());
    else response.writeHead(status, headers).end(body);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwarded,
    clear() {
      forwarded.length = 0;
      status = 201;
      headers = {};
      body = '';
      isBroken = false;
      held = undefined;
      release();
      waiting.clear();
    },
    answer(...given) {
      [status, headers = {}, body = ''] = given;
    },
    breakBodies() {
      isBroken = true;
    },
    hold() {
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    arrived: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!forwarded.some(({ body }) => JSON.stringify(body).includes(text))) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
};
