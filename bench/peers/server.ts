import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { createRelay } from '../../dist/relay.js';

/** The uploads of a page so far. */
export interface Uploads {
  requests: number;
  /** Bytes of the bodies as they were sent (maybe compressed), and of the queries in their addresses. */
  bytes: number;
  /** How often each event came, by its number. */
  readonly events: ReadonlyMap<number, number>;
  /** When the last request came, in ms since the epoch. */
  last: number;
}

/** How each service answers a request that it accepts. */
const ANSWERS: readonly [path: string, status: number, body: string][] = [
  ['/floor', 204, ''],
  ['/2/httpapi', 200, '{"code":200,"events_ingested":1,"payload_size_bytes":1,"server_upload_time":1}'],
  ['/e/', 200, '{"status":"Ok"}'],
  ['/v1/b', 200, '{"success":true}'],
  ['/com.snowplowanalytics.snowplow/tp2', 200, 'ok'],
  ['/track/', 200, '1'],
  ['/api/event', 202, 'ok'],
];

/** Headers that isolate a page. Chromium gives an isolated page a clock with steps of 5 µs instead of 100 µs. */
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

/** The page has an empty icon, because the server would count the browser's request for an icon. */
const BLANK = '<!doctype html><title>bench</title><link rel="icon" href="data:,">';

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString();

const unescaped = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** A body as text, decoded as its service decodes it: gzip, forms, base64. */
const read = (body: Buffer): string => {
  const text = (body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body) : body).toString();
  const [, form] = /^data=(.*)/s.exec(text) ?? [];
  if (form) return /^[\w+/=-]+$/.test(unescaped(form)) ? fromBase64(unescaped(form)) : unescaped(form);
  return text.replace(/("ue_px":")([\w-]+)/g, (_, key, value) => key + fromBase64(value));
};

/** The server of a page, on a port of its own, which serves one script and counts the script's uploads. */
export const startServer = async (code: string) => {
  const events = new Map<number, number>();
  const uploads: Uploads = { requests: 0, bytes: 0, events, last: 0 };

  /** clew's own relay, because a page asks it what has arrived. The relay runs in this process, and the service behind it confirms all. */
  const relay = createRelay({
    forward: async () => new Response(null, { status: 201 }),
    limits: { address: false, visitor: false, total: false },
  });
  const relayed = async (request: IncomingMessage, url: URL, body: Buffer): Promise<Response> => {
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, `${value}`]);
    return relay(new Request(url, { method: 'POST', headers, body: new Uint8Array(body) }), { address: '127.0.0.1' });
  };

  const take = (body: Buffer, url: URL) => {
    uploads.requests++;
    uploads.bytes += body.length + url.search.length;
    uploads.last = Date.now();
    for (const [, step] of read(body).matchAll(/step\\*":\s*\\*"?(\d+)/g)) {
      events.set(Number(step), (events.get(Number(step)) ?? 0) + 1);
    }
  };

  /** Faults of the uploads: sockets are closed while `isDown`, and the next `failures` uploads are answered 500. */
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
      // If the page aborts an upload, reading its body fails. Such an upload has not arrived.
      const upload = await buffer(request).catch(() => undefined);
      if (upload) take(upload, url);
      if (upload && url.pathname.startsWith('/clew/')) {
        const answer = await relayed(request, url, upload);
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
        return;
      }
      const [, status, body] = ANSWERS.find(([path]) => url.pathname.startsWith(path)) ?? ['', 200, '{}'];
      response.writeHead(status).end(body);
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
