import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { type Context, Hono } from 'hono';
import { NONCE, secureHeaders } from 'hono/secure-headers';
import { type BookTotals, createRelay } from '../dist/relay.js';
import { serveApp } from './apps.ts';
import { createCollector } from './collector/collector.ts';
import type { ServerEnv } from './collector/faults.ts';

const { PORT = '8787', HOST = '127.0.0.1', API_KEY = 'demo-key', DATABASE_URL, DATA_DIR } = process.env;
/** File with a dump of PGlite. Tests set it, so that their demos start sooner. */
const { CLEW_DATABASE_TEMPLATE } = process.env;
const root = resolve(import.meta.dirname, '..');

/** Each visitor of the crowd has its own host name for this machine, and therefore its own storage. */
const CROWD = 'http://*.localhost:*';

/** The policy of a careful site. The demo shows that clew needs no exception from it. */
const strictPolicy = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'", NONCE],
    styleSrc: ["'self'"],
    fontSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    frameSrc: ["'self'", CROWD],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    // The demo page shows the shop in frames. The frames of the crowd have other origins than the page.
    frameAncestors: ["'self'", CROWD, 'http://127.0.0.1:*', 'http://localhost:*'],
    requireTrustedTypesFor: ["'script'"],
  },
  // `X-Frame-Options` cannot allow other origins, and `frame-ancestors` replaces it.
  xFrameOptions: false,
  // The demo is served by plain HTTP, and this header demands HTTPS.
  strictTransportSecurity: false,
});

type DemoEnv = ServerEnv & { Variables: { secureHeadersNonce?: string } };

const read = (file: string) => readFile(resolve(root, file), 'utf8');

/** A page with the stub inlined as its users inline it. The stub replaces a comment, because formatters keep comments. */
const answer = async (c: Context<DemoEnv>, page: string) => {
  const stub = await read('dist/stub.js');
  return c.html(
    page.replace('/* {{stub}} */', () => stub.trim()).replaceAll('{{nonce}}', c.get('secureHeadersNonce') ?? ''),
  );
};

/** A page of the shop: its title and its content, within the layout of all pages. */
const serveShop = async (c: Context<DemoEnv>) => {
  const name = c.req.param('page') || 'index';
  const content = /^[a-z]+$/.test(name) && (await read(`demo/pages/shop/${name}.html`).catch(() => undefined));
  if (!content || name === 'layout') return c.redirect('/shop/');
  const [title = ''] = /<title>.*<\/title>/.exec(content) ?? [];
  const layout = await read('demo/pages/shop/layout.html');
  const page = layout
    .replace('<!-- {{title}} -->', () => title)
    .replace('<!-- {{main}} -->', () => content.replace(title, '').trim());
  return answer(c, page);
};

const main = async () => {
  const collector = await createCollector({
    apiKey: API_KEY,
    ...(DATABASE_URL && { databaseUrl: DATABASE_URL }),
    ...(!DATABASE_URL && { dataDir: DATA_DIR ?? resolve(root, 'demo/data') }),
    ...(CLEW_DATABASE_TEMPLATE && { template: CLEW_DATABASE_TEMPLATE }),
  });
  const app = new Hono<DemoEnv>();
  app.route('/', collector.app);
  app.use('/dist/*', serveStatic({ root }));
  // The import map names lit-html, so that editors and browsers resolve the same import. The fonts make every machine show the same page.
  for (const path of ['/lit-html/*', '/@fontsource-variable/*'])
    app.use(path, serveStatic({ root: resolve(root, 'node_modules') }));
  app.get('/', strictPolicy, async (c) => answer(c, await read('demo/pages/index.html')));
  /** The latest report of the relay. */
  let books: readonly BookTotals[] = [];
  app.get('/books/report', (c) => c.json(books));
  app.get('/books', strictPolicy, async (c) => {
    const release = /^[\d.]{1,8}$/.exec(c.req.query('release') ?? '')?.[0] ?? '1.0';
    return answer(c, (await read('demo/pages/books.html')).replaceAll('{{release}}', release));
  });
  app.get('/shop', (c) => c.redirect('/shop/'));
  for (const path of ['/shop/', '/shop/:page']) app.get(path, strictPolicy, serveShop);
  app.use('/pages/*', serveStatic({ root: resolve(root, 'demo') }));
  for (const name of ['react', 'vue'] as const) {
    app.get(`/${name}`, (c) => c.redirect(`/${name}/`));
    app.get(`/${name}/*`, strictPolicy, serveApp(name));
  }
  app.get('/blank', (c) => c.html('<!doctype html><html lang="en"><title>Blank</title></html>'));
  app.get('/favicon.ico', (c) => c.body(null, 204));

  const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: HOST }, (info: AddressInfo) => {
    const address = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${info.port}`;
    // The relay reaches the collector as it would reach any service: over HTTP.
    const relay = createRelay({
      baseUrl: address,
      apiKey: API_KEY,
      allowUnsignedIdentify: true,
      allowUnsignedUpsert: true,
      reportInterval: 1,
      onReport(report) {
        books = report.books ?? books;
      },
      // The tests of the demo send as many events as they can.
      limits: { visitor: false, total: false },
    });
    app.all('/clew/*', (c) => relay(c.req.raw));
    console.log(`clew demo: ${address}`);
  });

  server.once('error', (error) => {
    console.error(`clew demo: cannot listen on ${HOST}:${PORT} (${error.message}); PORT=… chooses another port`);
    process.exit(1);
  });

  const stop = async () => {
    server.close(() => process.exit(0));
    await collector.close();
    // Node does not count a connection as idle before its first request. Such a connection would keep the demo running for minutes.
    if ('closeAllConnections' in server) server.closeAllConnections();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
};

main().catch((error) => {
  console.error(`clew demo: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
});
