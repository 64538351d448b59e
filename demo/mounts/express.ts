import express from 'express';
// In a project of yours: from 'clew/relay'.
import { createRelay, type RelayOptions, toNodeHandler } from '../../src/relay.ts';

/** Express 4 and 5. */
export const serveWithExpress = (options: RelayOptions, port: number, host: string) => {
  const app = express();
  const relay = createRelay(options);
  app.use('/clew', toNodeHandler(relay));
  // Body parsers come after the relay, because the relay inflates, measures and parses bodies by itself.
  app.use(express.json());
  app.post('/echo', (request, response) => void response.json(request.body));
  const server = app.listen(port, host);
  const stop = async () => {
    await relay.close();
    server.close();
  };
  return { server, stop };
};
