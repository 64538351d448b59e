import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'vite';
import { createRelay, toNodeHandler } from '../../../dist/relay.js';
import type { Demo } from '../../support/demo.ts';
import { type Built, type Framework, openBuilt } from './built.ts';
import { headOf, renderPage } from './pages.ts';
import { launcherOf, PRERENDERED } from './prerender.ts';
import { type Row, rows } from './rows.ts';

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

/** Bundles an app with clew from `dist`, as apps take clew from the package. */
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

/** A page of a framework, with `head` at the beginning of its head. */
async function* withHead(page: AsyncIterable<Uint8Array>, head: string) {
  let isDone = false;
  for await (const chunk of page) {
    const before = Buffer.from(chunk).toString('latin1');
    const after: string = isDone ? before : before.replace('<head>', () => `<head>${head}`);
    isDone ||= after !== before;
    yield Buffer.from(after, 'latin1');
  }
}

/** Passes a request on to a framework's server. As the other pages, its pages may go into the back/forward cache. */
const passOn = async (origin: string, request: IncomingMessage, response: ServerResponse, head: string) => {
  const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>;
  const answer = await fetch(origin + request.url, {
    headers: { ...headers, 'accept-encoding': 'identity' },
    redirect: 'manual',
  });
  const type = answer.headers.get('content-type') ?? '';
  const isPage = type.startsWith('text/html');
  for (const [name, value] of answer.headers)
    if (!/^(connection|keep-alive|transfer-encoding|content-length)$/.test(name)) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-cache');
  response.writeHead(answer.status);
  const body: AsyncIterable<Uint8Array> = answer.body ?? Readable.from([]);
  // A page that leaves aborts its prefetches.
  await pipeline(isPage ? withHead(body, head) : body, response).catch((error) => {
    if (!request.socket.destroyed) throw error;
  });
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
  /** Prerendered pages that are visible now. Each waits for the path of its next page. */
  const turns: ((path: string) => void)[] = [];
  /** The built apps. A framework that cannot be installed has the reason in place of its app. */
  const frameworks = new Map<Framework, Built | string>();
  const builtFor = (framework: Framework | undefined) => {
    const built = framework && frameworks.get(framework);
    return typeof built === 'object' ? built : undefined;
  };
  /** Builds the framework's app for the row, unless it is built already. Returns the reason if the row cannot be played. */
  const prepare = async ({ framework }: Row): Promise<string | undefined> => {
    if (!framework) return undefined;
    const built = frameworks.get(framework) ?? (await openBuilt(framework));
    if (typeof built === 'string' && !frameworks.has(framework)) console.log(built);
    frameworks.set(framework, built);
    return typeof built === 'string' ? built : undefined;
  };
  const site = { origin: '', problems, turns, prepare, close: async () => {} };

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
    const next = builtFor('next');
    const isNext = first === '_next' || row?.framework === 'next';
    if (next && isNext) return passOn(next.origin, request, response, row ? headOf(row, PRERENDERED) : '');
    const astro = builtFor('astro');
    if (astro && page === '_astro')
      return answer('text/javascript', await readFile(join(astro.folder, 'dist', pathname.replace('/astro', ''))));
    if (!row) return response.writeHead(404).end();
    if (page === 'old') return response.writeHead(302, { Location: `/${row.id}/three` }).end();
    await pause(SLOW);
    if (!row.framework) return answer('text/html', renderPage(row, page, PRERENDERED));
    const html = await readFile(join(astro?.folder ?? '', 'dist', `${page}.html`), 'utf8');
    answer(
      'text/html',
      html.replace('<head>', () => `<head>${headOf(row, PRERENDERED)}`),
    );
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
    for (const built of frameworks.values()) if (typeof built === 'object') await built.close();
  };
  return site;
};
export type RouterSite = Awaited<ReturnType<typeof startSite>>;
