import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createRelay, type RelayOptions, toNodeHandler } from '../../dist/relay.js';
import type { Demo } from './demo.ts';

/** A page of a site: its markup, and the headers of its response. */
export interface SitePage {
  html: string;
  headers?: Record<string, string>;
}

/** A customer's web site. The relay is on its origin, before the demo's collector. Other origins can load clew's files. */
export interface Site {
  readonly address: string;
  readonly port: string;
  /** The pages by their paths. A test can change them at any time. */
  readonly pages: Record<string, SitePage>;
  stop(): Promise<void>;
}

export const startSite = async (demo: Demo, options: Partial<RelayOptions> = {}): Promise<Site> => {
  const pages: Site['pages'] = {};
  const relay = createRelay({ baseUrl: demo.address, apiKey: 'demo-key', allowUnsignedIdentify: true, ...options });
  const handle = toNodeHandler(relay);
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    const page = pages[path.replace(/\?.*/, '')];
    if (path.startsWith('/clew/')) return handle(request, response);
    if (page) return response.writeHead(200, { 'Content-Type': 'text/html', ...page.headers }).end(page.html);
    const answer = await fetch(demo.address + path);
    const type = answer.headers.get('Content-Type') ?? 'text/plain';
    response.writeHead(answer.status, { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' });
    response.end(answer.body && (await buffer(answer.body)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = `${(server.address() as AddressInfo).port}`;
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    pages,
    async stop() {
      await relay.close();
      server.close();
      server.closeAllConnections();
    },
  };
};
