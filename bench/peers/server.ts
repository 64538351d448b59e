import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** What a page has uploaded. */
export interface Uploads {
  requests: number;
  /** Of bodies as they travelled, and of the addresses' queries. */
  bytes: number;
  /** How often each event came, by its number. */
  readonly events: ReadonlyMap<number, number>;
  /** When the last request came, in ms since the epoch. */
  last: number;
}

/** As each service answers what it takes: beginning of the path, status, body. */
const ANSWERS: readonly [path: string, status: number, body: string][] = [
  ['/floor', 204, ''],
  ['/clew/', 201, '{}'],
  ['/2/httpapi', 200, '{"code":200,"events_ingested":1,"payload_size_bytes":1,"server_upload_time":1}'],
  ['/e/', 200, '{"status":"Ok"}'],
  ['/v1/b', 200, '{"success":true}'],
  ['/com.snowplowanalytics.snowplow/tp2', 200, 'ok'],
  ['/track/', 200, '1'],
  ['/api/event', 202, 'ok'],
];

/** With them a page's clock has steps of 5 µs instead of 100. */
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

/** The icon is given, so that none is asked for and counted. */
const BLANK = '<!doctype html><title>bench</title><link rel="icon" href="data:,">';

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString();

const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** A body as text, through whatever its service undoes: gzip, forms, base64. */
const read = (body: Buffer): string => {
  const text = (body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body).toString();
  const [, form] = /^data=(.*)/s.exec(text) ?? [];
  if (form) return /^[\w+/=-]+$/.test(unescaped(form)) ? fromBase64(unescaped(form)) : unescaped(form);
  return text.replace(/("ue_px":")([\w-]+)/g, (_, key, value) => key + fromBase64(value));
};

/** The other end of a page, on a port of its own: serves one script, takes what it sends, and counts. */
export const startServer = async (code: string) => {
  const events = new Map<number, number>();
  const uploads: Uploads = { requests: 0, bytes: 0, events, last: 0 };

  const take = async (request: IncomingMessage, url: URL) => {
    // What its page took back half sent has not arrived.
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    uploads.requests++;
    uploads.bytes += body.length + url.search.length;
    uploads.last = Date.now();
    for (const [, step] of read(body).matchAll(/step\\*":\s*\\*"?(\d+)/g)) {
      events.set(Number(step), (events.get(Number(step)) ?? 0) + 1);
    }
  };

  /** What goes wrong with uploads: their sockets are closed, or so many more of them are answered 500. */
  const trouble = { isDown: false, failures: 0 };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/') {
      response.writeHead(200, { 'Content-Type': 'text/html', ...ISOLATED }).end(BLANK);
    } else if (url.pathname === '/subject.js') {
      response.writeHead(200, { 'Content-Type': 'text/javascript', 'Cache-Control': 'no-store' }).end(code);
    } else if (trouble.isDown) {
      request.socket.destroy();
    } else if (trouble.failures > 0) {
      trouble.failures--;
      request.resume();
      response.writeHead(500).end();
    } else {
      await take(request, url);
      const [, status, body] = ANSWERS.find(([path]) => url.pathname.startsWith(path)) ?? ['', 200, '{}'];
      // As clew's relay does.
      response.writeHead(status, { 'clew-relay': '1' }).end(body);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uploads,
    trouble,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
};
export type Server = Awaited<ReturnType<typeof startServer>>;
