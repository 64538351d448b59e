import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'vite';
import { createRelay, toNodeHandler } from '../../../dist/relay.js';
import type { Demo } from '../../support/demo.ts';
import { renderPage } from './pages.ts';
import { launcherOf, PRERENDERED } from './prerender.ts';
import { rows } from './rows.ts';

/** How long (ms) the server takes for a page or for data. An address has to stand for less before it counts as a view. */
const SLOW = 300;

const root = join(import.meta.dirname, '../../..');
const files: Record<string, string> = {
  '/dist/clew.js': 'dist/clew.js',
  '/lib/turbo.js': 'node_modules/@hotwired/turbo/dist/turbo.es2017-esm.js',
  '/lib/htmx.js': 'node_modules/htmx.org/dist/htmx.js',
  '/lib/htmx-4.js': 'node_modules/htmx-4/dist/htmx.js',
};

const apps = ['history', 'navigation', 'hash', 'react', 'vue'];

/** Bundles an app. It takes clew from `dist`, as apps take it from the package. */
const bundle = async (name: string): Promise<string> => {
  const built = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    resolve: {
      alias: [
        { find: /^clew$/, replacement: join(root, 'dist/index.js') },
        { find: /^clew\//, replacement: join(root, 'dist/') },
      ],
    },
    build: {
      write: false,
      lib: { entry: join(import.meta.dirname, `apps/${name}.ts`), formats: ['iife'], name: 'app', fileName: name },
    },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const chunk = output && 'output' in output ? output.output[0] : undefined;
  if (!chunk) throw new Error(`${name} was not built`);
  return chunk.code;
};

/** Apps of all kinds on one origin, with the relay in front of the demo's collector. */
export const startSite = async (demo: Demo) => {
  const relay = toNodeHandler(
    createRelay({ baseUrl: demo.address, apiKey: 'demo-key', limits: { visitor: false, total: false } }),
  );
  const bundles = new Map<string, string>(
    await Promise.all(apps.map(async (name) => [`${name}.js`, await bundle(name)] as const)),
  );
  const problems: string[] = [];
  /** Pages that have been prerendered and are seen: each waits for the path at which it goes on. */
  const turns: ((path: string) => void)[] = [];
  const site = { origin: '', problems, turns, close: async () => {} };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const answer = (type: string, body: string | Buffer) =>
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-cache' }).end(body);
    const [, first = '', page = ''] = pathname.split('/');
    const row = rows.find(({ id }) => id === first);
    const file = files[pathname];
    if (first === 'clew') return relay(request, response);
    if (file) return answer('text/javascript', await readFile(join(root, file)));
    if (pathname === '/problem') {
      problems.push(await text(request));
      return response.writeHead(204).end();
    }
    if (first === 'apps') {
      await pause(SLOW);
      return answer('text/javascript', bundles.get(page) ?? '');
    }
    if (pathname === '/data') {
      await pause(SLOW);
      return answer('text/plain', 'data');
    }
    if (pathname === '/turn') return void turns.push((path) => answer('text/plain', path));
    const launched = rows.find(({ id }) => first === 'launch' && id === page);
    if (launched) return answer('text/html', launcherOf(launched));
    if (pathname === '/away') return answer('text/html', '<!doctype html><title>Away</title><h1>Away</h1>');
    if (!row) return response.writeHead(404).end();
    if (page === 'old') return response.writeHead(302, { Location: `/${row.id}/three` }).end();
    await pause(SLOW);
    answer('text/html', renderPage(row, page, PRERENDERED));
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error) => {
      problems.push(String(error));
      response.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  site.origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  site.close = async () => {
    server.close();
    server.closeAllConnections();
  };
  return site;
};
export type RouterSite = Awaited<ReturnType<typeof startSite>>;
