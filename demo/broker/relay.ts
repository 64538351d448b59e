// A relay that appends to a Redis stream. Start as many as you like behind one address.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRelay, ForwardError, redisSeen, toNodeHandler } from '../../src/relay.ts';
import { connect } from './redis.ts';
import { createRedisForward, weakSpots } from './redis-streams.ts';

const { REDIS_URL = 'redis://127.0.0.1:6379', STREAM = 'clew', PORT = '8788', HOST = '127.0.0.1' } = process.env;
/** `MAX_PENDING`: how long (ms) a batch is held back after a relay crashed while forwarding it. */
const { IDENTITY_SECRET, ALLOWED_ORIGINS, MAX_PENDING = '60000', TIMEOUT = '10000' } = process.env;

const { client, command } = await connect(REDIS_URL);
for (const line of await weakSpots(command)) console.error(`clew relay: Redis may lose events: ${line}`);

const relay = createRelay({
  forward: createRedisForward({ command, stream: STREAM }),
  seen: redisSeen(command, { maxPending: Number(MAX_PENDING) }),
  timeout: Number(TIMEOUT),
  onError: (error) => console.error(`clew relay: ${error instanceof ForwardError ? error.detail : error}`),
  ...(IDENTITY_SECRET && { identitySecret: IDENTITY_SECRET }),
  ...(ALLOWED_ORIGINS && { allowedOrigins: ALLOWED_ORIGINS.split(',').map((origin) => origin.trim()) }),
});
const server = createServer(toNodeHandler(relay)).listen(Number(PORT), HOST, () => {
  console.log(`clew relay: http://${HOST}:${(server.address() as AddressInfo).port}`);
});

const stop = async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  await relay.close();
  server.closeIdleConnections();
  await closed;
  await client.close();
};
process.once('SIGINT', stop).once('SIGTERM', stop);
