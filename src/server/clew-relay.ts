#!/usr/bin/env node
/** `npx clew-relay`: a relay for sites without a Node server. Variables of the environment configure it. docs/relay.md lists them. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { longestForwarding } from '../relay/retry.js';
import {
  createRelay,
  type LogLine,
  type Relay,
  type RelayOptions,
  redisBuckets,
  redisSeen,
  toNodeHandler,
} from '../relay.js';
import { agentOptions } from './agents.js';
import { acceptOf } from './catalogueFiles.js';
import { describeError, readEnvironment, type Settings } from './environment.js';
import { openRedis } from './redis.js';

/** Longer than the load balancers in front keep an unused connection: a request on one that ends meanwhile would fail. In ms. */
const KEEP_ALIVE = 75_000;
/** How long connections may take to end after the relay has answered all requests, in ms. */
const GRACE = 2000;

/** How long the reservation of a relay that has died holds, in ms, or longer if `TIMEOUT` asks for that. */
const LEAST_PENDING = 60_000;

const LEVELS = ['info', 'warn', 'error'];

const listen = (handler: RequestListener, port: number, host: string): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer(handler);
    server.keepAliveTimeout = KEEP_ALIVE;
    server.headersTimeout = KEEP_ALIVE + 1000;
    // Node itself would answer 417, which is no answer of the relay.
    server.on('checkExpectation', handler);
    server.once('error', reject).listen(port, host, () => resolve(server));
  });

const addressOf = (server: Server, host: string) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;

const endServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), GRACE).unref();
  });

const metricsHandler =
  (relay: Relay): RequestListener =>
  (_request, response) => {
    response.setHeader('Content-Type', 'application/openmetrics-text; version=1.0.0; charset=utf-8');
    response.end(relay.metrics());
  };

const start = async (settings: Settings): Promise<void> => {
  const { relay: options, port, host, metricsPort, redisUrl, logLevel } = settings;
  const log = (line: LogLine) => {
    if (LEVELS.indexOf(line.level) >= LEVELS.indexOf(logLevel)) console.log(JSON.stringify(line));
  };
  const note = (level: LogLine['level'], message: string) => log({ time: new Date().toISOString(), level, message });
  const redis = redisUrl ? await openRedis(redisUrl, (error) => note('error', `redis: ${error}`)) : undefined;
  const shared: RelayOptions = redis
    ? {
        seen: redisSeen(redis.command, {
          maxPending: Math.max(LEAST_PENDING, longestForwarding(options.timeout ?? 0)),
        }),
        limits: { ...options.limits, buckets: redisBuckets(redis.command) },
      }
    : {};
  const { userAgent, ...bots } = await agentOptions(settings.agents);
  const enrich = { ...options.enrich, ...(userAgent && { userAgent }) };
  const relay = createRelay({
    ...options,
    ...shared,
    ...bots,
    ...acceptOf(settings.catalogues),
    enrich,
    logger: log,
  });
  if (!redis)
    note('warn', 'without REDIS_URL, duplicates are recognised for a day, until a restart, by this process only');
  if (!options.identitySecret && !options.identityKeys && !options.allowUnsignedIdentify)
    note('warn', 'without IDENTITY_SECRET or IDENTITY_KEYS, every identify is rejected');
  if (options.allowUnsignedIdentify || options.allowUnsignedUpsert)
    note('warn', 'with ALLOW_UNSIGNED_IDENTIFY or ALLOW_UNSIGNED_UPSERT, pages need no signature');
  if (!options.allowedOrigins) note('warn', 'without ALLOWED_ORIGINS, pages of every origin may send');
  await redis?.connect();
  // First the metrics, so that no event arrives before all ports are known to be free.
  const metrics = metricsPort === undefined ? [] : [await listen(metricsHandler(relay), metricsPort, host)];
  const servers = [await listen(toNodeHandler(relay), port, host), ...metrics];
  let isEnding = false;
  const stop = async () => {
    // A second signal must not cut requests off: Ctrl-C reaches this process twice under npx, from the terminal and from npx.
    if (isEnding) return;
    isEnding = true;
    await relay.close();
    await Promise.all(servers.map(endServer));
    await redis?.close();
    process.exit();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  for (const [at, server] of servers.entries())
    console.log(`clew-relay${at ? ' metrics' : ''}: ${addressOf(server, host)}`);
};

// The reader of the log may have closed the pipe. The relay goes on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  const [argument] = process.argv.slice(2);
  if (argument !== undefined)
    throw new TypeError(`expected variables of the environment, such as BASE_URL, and no argument, got ${argument}`);
  await start(readEnvironment(process.env));
} catch (error) {
  console.error(`clew-relay: ${describeError(error)}`);
  // A connection to Redis or an open port would keep the process.
  process.exit(1);
}
