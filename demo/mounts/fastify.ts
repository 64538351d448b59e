import { fastify } from 'fastify';
// In a project of yours: from 'clew/relay'.
import { createRelay, type RelayOptions, toNodeHandler } from '../../src/relay.ts';

/** Fastify 5. */
export const serveWithFastify = async (options: RelayOptions, port: number, host: string) => {
  const app = fastify();
  const relay = createRelay(options);
  const handle = toNodeHandler(relay);
  app.register(async (scope) => {
    // Within this scope, Fastify leaves bodies unread, because the relay inflates, measures and parses them by itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    scope.all('/clew/*', (request, reply) => {
      reply.hijack();
      return handle(request.raw, reply.raw);
    });
  });
  app.post('/echo', async (request) => request.body);
  await app.listen({ port, host });
  const stop = async () => {
    await relay.close();
    await app.close();
  };
  return { server: app.server, stop };
};
