import { serve } from '@hono/node-server';
import { Hono } from 'hono';
// In a project of yours: from 'clew/relay'.
import { createRelay, type RelayOptions } from '../../src/relay.ts';

/** Hono on Node. On Deno, Bun and workers, the two lines about `app` are the same. */
export const serveWithHono = (options: RelayOptions, port: number, hostname: string) => {
  const relay = createRelay(options);
  const app = new Hono();
  app.all('/clew/*', (c) => relay(c.req.raw));
  const server = serve({ fetch: app.fetch, port, hostname });
  const stop = async () => {
    await relay.close();
    server.close();
  };
  return { server, stop };
};
