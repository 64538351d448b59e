import { once } from 'node:events';
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
/** Tests that need Redis are skipped on a machine that has none. */
export const describeWithRedis: (name: string, body: () => void) => void = describe.skipIf(!isThere);
export const itWithRedis: (name: string, body: () => Promise<void>) => void = it.skipIf(!isThere);

/** A redis-server of the test's own, whose append-only file is written before it answers. */
export interface Redis {
  url: string;
  /** Over a connection of this test's own, which comes back when the server does. */
  command: RedisCommand;
  /** Another such connection: relays that share a Redis do not share one. */
  connect(): Promise<RedisCommand>;
  /** Resolves when its connections are there again after `restart`. */
  reconnected(): Promise<void>;
  /** As the kernel or a power switch would: nothing is said and nothing written any more. */
  kill(): Promise<void>;
  /** From now on it accepts connections and answers nothing, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** The same port, the same files. */
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
    // What fails is heard of by whoever has sent a command.
    client.on('error', () => {});
    await client.connect();
    return (args) => client.sendCommand(args);
  };
  return {
    url,
    command: await connect(),
    connect,
    async reconnected() {
      await Promise.all(clients.map((client) => client.isReady || once(client, 'ready')));
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
