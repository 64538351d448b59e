import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Running, start } from '../../test/broker/process.ts';
import { deadUrl } from '../../test/upstream.ts';

/** `clew-relay` in a process of its own. The relay's `seen` is a Redis, which survives the process. */
export interface RestartableRelay {
  readonly address: string;
  /** Ends the process, and starts another one at the same address. */
  restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  stop(): Promise<void>;
}

const COMMAND = join(import.meta.dirname, '../../dist/clew-relay.js');

/** @param service the address of the demo */
export const startRestartableRelay = async (service: string): Promise<RestartableRelay> => {
  const dir = await mkdtemp(join(tmpdir(), 'clew-redis-'));
  const { port } = new URL(await deadUrl());
  const address = await deadUrl();
  const launch = (): Promise<Running> =>
    start(process.execPath, [COMMAND], /clew-relay: (http:\S+)/, {
      BASE_URL: service,
      API_KEY: 'demo-key',
      REDIS_URL: `redis://127.0.0.1:${port}`,
      PORT: new URL(address).port,
    });
  const redis = await start(
    'redis-server',
    ['--port', port, '--bind', '127.0.0.1', '--dir', dir, '--save', ''],
    /Ready to accept connections/,
  );
  let relay = await launch();
  return {
    address,
    async restart(signal) {
      await relay.end(signal);
      relay = await launch();
    },
    async stop() {
      await relay.end('SIGTERM');
      await redis.end('SIGTERM');
      await rm(dir, { recursive: true, force: true });
    },
  };
};
