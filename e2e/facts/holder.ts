import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Holder } from '../../sim/facts/fact.ts';

/** How long (ms) a browser may take to give a request up. */
const PATIENCE = 2000;

/** The server, and how to end it. */
export const startHolder = async (): Promise<Holder & { stop(): void }> => {
  const held = new Map<string, ServerResponse>();
  const arrivals = new EventEmitter();
  const server = createServer(({ url = '' }, response) => {
    const path = url.slice(1);
    held.set(path, response);
    arrivals.emit(path);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async arrived(path) {
      if (!held.has(path)) await once(arrivals, path);
    },
    hasArrived: (path) => held.has(path),
    isAwaited: (path) => held.get(path)?.closed === false,
    answer: (path) => void held.get(path)?.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end(),
    async isGivenUp(path) {
      const response = held.get(path);
      if (!response || response.closed) return true;
      return Promise.race([once(response, 'close').then(() => true), pause(PATIENCE, false)]);
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
};
