import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRelay, type RelayOptions, toNodeHandler } from '../../dist/relay.js';
import type { Demo } from './demo.ts';

/** A request that a relay has received. */
export type Came = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** A relay on an origin of its own, for pages of the demo's. */
export const startRelay = async (demo: Demo, options: Partial<RelayOptions> = {}) => {
  const came: Came[] = [];
  const create = (changed: Partial<RelayOptions>) =>
    createRelay({
      baseUrl: demo.address,
      apiKey: 'demo-key',
      ...(!options.identitySecret && !options.identityKeys && { allowUnsignedIdentify: true }),
      allowedOrigins: [new URL(demo.address).origin],
      ...options,
      ...changed,
    });
  let relay = create({});
  const server = createServer((request, response) => {
    came.push(request);
    toNodeHandler(relay)(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/clew`,
    came,
    /** Starts it again at the same address, with other options. */
    async restart(changed: Partial<RelayOptions>) {
      await relay.close();
      relay = create(changed);
    },
    async stop() {
      await relay.close();
      server.close();
      server.closeAllConnections();
    },
  };
};
