import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { createExchange, type Handler } from './exchange.ts';
import { createListener } from './listener.ts';
import { renderPage } from './page.ts';

/** A request of a page to the API, as it arrived. Preflights are included. */
export interface SeenRequest {
  at: number;
  method: string;
  path: string;
  /** Path of the page that has sent it. */
  page: string;
  bytes: number;
  uuids: string[];
  /** Status of the answer, once there is one. */
  status?: number;
  /** When the whole answer had been sent. */
  answeredAt?: number;
}

/** A website with clew on it, on an origin of its own, in front of the demo. */
export interface Site {
  readonly origin: string;
  readonly requests: SeenRequest[];
  /** Errors, rejections and lines on the console that pages have reported. */
  readonly problems: string[];
  /** How many times each uuid went to the demo. */
  readonly stored: ReadonlyMap<string, number>;
  /** Further files, by path: a service worker, another page. */
  readonly files: Map<string, { type: string; body: string; headers?: Record<string, string> }>;
  /** Handles requests to the API for as long as it is set. Without it, they go to the demo. */
  fault: Handler | undefined;
  /** Refuses new connections from now on, and ends the open ones. */
  refuse(): Promise<void>;
  /** Listens again, on the same port. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

const API = /^\/(clew|api|events)\//;

/** Files of `dist`, which are read once, because another process may be building them. */
const texts = new Map<string, string>();
const readDist = async (path: string): Promise<string> => {
  for (let attempts = 0; !texts.has(path); attempts++) {
    try {
      texts.set(path, await readFile(join(import.meta.dirname, '../../..', path), 'utf8'));
    } catch (error) {
      if (attempts === 100) throw error;
      await pause(100);
    }
  }
  return texts.get(path) ?? '';
};

export const startSite = async (demo: { address: string }): Promise<Site> => {
  const requests: SeenRequest[] = [];
  const problems: string[] = [];
  const stored = new Map<string, number>();
  const files: Site['files'] = new Map();

  const serveApi = async (request: IncomingMessage, response: ServerResponse, path: string) => {
    const { method = '', headers } = request;
    const page = headers.referer ? new URL(headers.referer).pathname : '';
    const seen: SeenRequest = { at: Date.now(), method, path, page, bytes: 0, uuids: [] };
    requests.push(seen);
    response.once('finish', () => {
      seen.status = response.statusCode;
      seen.answeredAt = Date.now();
    });
    const { fault } = site;
    const body = fault?.early ? Buffer.alloc(0) : await buffer(request);
    const exchange = createExchange(demo.address, request, response, body, (uuids) => {
      for (const uuid of uuids) stored.set(uuid, (stored.get(uuid) ?? 0) + 1);
    });
    seen.bytes = exchange.body.length;
    seen.uuids = exchange.uuids;
    await (fault ? fault(exchange) : exchange.forward());
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://localhost');
    const answer = (status: number, type: string, body: string, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-cache', ...headers }).end(body);
    const file = files.get(pathname);
    if (file) return answer(200, file.type, file.body, file.headers);
    if (API.test(pathname)) return serveApi(request, response, pathname);
    if (pathname === '/problem') {
      problems.push(await text(request));
      return answer(204, 'text/plain', '');
    }
    if (pathname === '/blank')
      return answer(200, 'text/html', '<!doctype html><html lang="en"><title>Blank</title></html>');
    if (pathname.startsWith('/dist/')) {
      await pause(Number(query.get('delay') ?? 0));
      return answer(200, 'text/javascript', await readDist(pathname));
    }
    if (!pathname.startsWith('/page/')) return answer(404, 'text/plain', '');
    const csp = query.get('csp');
    const page = renderPage(query, await readDist('/dist/stub.js'));
    answer(200, 'text/html', page, csp ? { 'Content-Security-Policy': csp } : {});
  };

  const server = createServer((request, response) => {
    // Faults and pages break connections, so such an error is not reported.
    serve(request, response).catch(() => response.destroy());
  });
  const { port, refuse, accept } = await createListener(server);
  const site: Site = {
    origin: `http://localhost:${port}`,
    requests,
    problems,
    stored,
    files,
    fault: undefined,
    refuse,
    accept,
    close: refuse,
  };
  return site;
};
