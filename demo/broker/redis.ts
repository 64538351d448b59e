import { createClient } from 'redis';
import type { RedisCommand } from '../../src/relay.ts';
import { withTimeout } from './redis-streams.ts';

/** How long (ms) Redis may take to answer: longer than a worker has it wait for new entries. */
const TIMEOUT = 5000;

/** A connection of `redis`, and how commands go through it. */
export const connect = async (url: string) => {
  const client = createClient({
    url,
    // Nobody is to wait for a Redis that is not there: a page has its store.
    disableOfflineQueue: true,
    socket: { reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1000) },
  });
  // Without a listener the first lost connection would end the process.
  client.on('error', (error) => console.error(`Redis: ${error}`));
  await client.connect();
  const command: RedisCommand = withTimeout((args) => client.sendCommand(args), TIMEOUT);
  return { client, command };
};
