import { createClient } from 'redis';
import type { RedisCommand } from '../../src/relay.ts';
import { withTimeout } from './redis-streams.ts';

/** How long (ms) Redis may take to answer: longer than a worker's wait for new entries. */
const TIMEOUT = 5000;

/** A connection by the package `redis`, and a function that sends commands through it. */
export const connect = async (url: string) => {
  const client = createClient({
    url,
    // While Redis is away, commands fail at once. A page then keeps its events in its own store.
    disableOfflineQueue: true,
    socket: { reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1000) },
  });
  // Without a listener, the first lost connection would end the process.
  client.on('error', (error) => console.error(`Redis: ${error}`));
  await client.connect();
  const command: RedisCommand = withTimeout((args) => client.sendCommand(args), TIMEOUT);
  return { client, command };
};
