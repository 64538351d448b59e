import { createServer } from 'node:http';
// In a project of yours: from 'clew/relay'.
import { createRelay, type RelayOptions, toNodeHandler } from '../../src/relay.ts';

/** Node's own server. Any prefix will do: the relay looks at the end of the path only. Call `stop` on SIGTERM. */
export const serveWithNode = (options: RelayOptions, port: number, host: string) => {
  const relay = createRelay(options);
  const server = createServer(toNodeHandler(relay)).listen(port, host);
  const stop = async () => {
    await relay.close();
    server.close();
  };
  return { server, stop };
};
