import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { RedisCommand } from '../src/relay.ts';
import { type Running, start } from './broker/process.ts';
import { hasRedis } from './support/hasRedis.ts';
import { deadUrl } from './upstream.ts';

const isThere = hasRedis();
/** Skips tests that need Redis on a machine without Redis. */
export const describeWithRedis: (name: string, body: () => void) => void = describe.skipIf(!isThere);
export const itWithRedis: (name: string, body: () => Promise<void>) => void = it.skipIf(!isThere);

/** A redis-server of the test's own, whose append-only file is written before it answers. */
export interface Redis {
  url: string;
  /** Sends a command over a connection of this test, which reconnects after a restart of the server. */
  command: RedisCommand;
  /** Another such connection: relays that share a Redis do not share one. */
  connect(): Promise<RedisCommand>;
  /** Resolves when its connections are there again after `restart`. */
  reconnected(): Promise<void>;
  /** Ends the server like a power failure: it sends and writes nothing any more. */
  kill(): Promise<void>;
  /** Stops the server's process until `thaw`: it accepts connections and answers nothing. */
  freeze(): void;
  thaw(): void;
  /** Starts a server on the same port with the same files. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const launch = (port: string, dir: string): Promise<Running> => {
  const options = { port, bind: '127.0.0.1', dir, appendonly: 'yes', appendfsync: 'always', save: '' };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return start('redis-server', args, /Ready to accept connections/);
};

export const startRedis = async (): Promise<Redis> => {
  const { port } = new URL(await deadUrl());
  const dir = await mkdtemp(join(tmpdir(), 'clew-redis-'));
  let server = await launch(port, dir);
  const url = `redis://127.0.0.1:${port}`;
  const clients: ReturnType<typeof open>[] = [];
  const open = () => createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 20 } });
  const connect = async (): Promise<RedisCommand> => {
    const client = open();
    clients.push(client);
    // Without a listener, Node would throw the client's errors. Each command rejects with its own error.
    client.on('error', () => {});
    await client.connect();
    return (args) => client.sendCommand(args);
  };
  return {
    url,
    command: await connect(),
    connect,
    async reconnected() {
      // `once` of node:events would reject at the first attempt that fails.
      const isBack = (client: (typeof clients)[number]) => new Promise((resolve) => client.once('ready', resolve));
      await Promise.all(clients.map((client) => client.isReady || isBack(client)));
    },
    async kill() {
      await server.end('SIGKILL');
    },
    freeze: () => server.signal('SIGSTOP'),
    thaw: () => server.signal('SIGCONT'),
    async restart() {
      server = await launch(port, dir);
    },
    async stop() {
      for (const client of clients) client.destroy();
      await server.end('SIGTERM');
      await rm(dir, { recursive: true });
    },
  };
};

/** One server for the tests around it, where redis-server is installed. */
export const useRedis = (): (() => Redis) => {
  let redis: Redis;
  if (!isThere) return () => redis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  return () => redis;
};
