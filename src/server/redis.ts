import { setTimeout as pause } from 'node:timers/promises';
import type { RedisCommand } from '../relay.js';

/** How long a start or an end waits for Redis, in ms. */
const PATIENCE = 2000;
/** How often the connection is checked, in ms. One that has been silent since the check before is replaced. */
const CHECK = 5000;
const SILENT = 'no answer';
/** Another server is the primary now. The connection still answers a `PING`, and a new one may reach the new primary. */
const REPLICA = 'Redis is a replica now';

/**
 * Opens a connection to a Redis, and keeps it. The function replaces a connection that stays open but silent, for example behind a
 * load balancer or a firewall. The package `redis` would wait for such a connection, and keep each command. The function also replaces
 * a connection to a server that has become a replica.
 *
 * @param onError receives the cause if there is no connection
 * @throws Error for an invalid address, or without the package `redis`
 */
export const openRedis = async (url: string, onError: (error: unknown) => void) => {
  const { createClient } = await import('redis').catch(() => {
    throw new Error('REDIS_URL: expected the package redis beside clew: npm install redis');
  });
  // The URL may have a password, so no message has it.
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url)) throw new Error('REDIS_URL: expected redis://… or rediss://…');
  /** Why the next check replaces the connection, unless an answer comes. */
  let fault: typeof SILENT | typeof REPLICA | undefined;
  const noteAnswer = () => {
    if (fault === SILENT) fault = undefined;
  };
  const open = () => {
    const client = createClient({
      url,
      // A command fails at once while there is no connection, and the relay answers 503.
      disableOfflineQueue: true,
      socket: { reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1000) },
    });
    return client.on('error', onError).on('error', noteAnswer).on('ready', noteAnswer);
  };
  // The package's own errors name no variable, and may have a part of the URL.
  const openFirst = () => {
    try {
      return open();
    } catch {
      throw new Error(
        'REDIS_URL: expected redis://user:password@host:port/number, with user and password as a URL has them',
      );
    }
  };
  let client = openFirst();
  const check = () => {
    if (fault) {
      onError(`${fault}, so the connection is replaced`);
      // Commands that wait for this connection fail.
      if (client.isOpen) client.destroy();
      client = open();
      client.connect().catch(onError);
    }
    fault = SILENT;
    if (client.isReady) client.ping().then(noteAnswer, noteAnswer);
  };
  let checking: ReturnType<typeof setInterval> | undefined;
  const command: RedisCommand = async (args) => {
    const asked = client;
    try {
      return await asked.sendCommand(args);
    } catch (error) {
      // A script's error has the word in its midst.
      if (asked === client && /\bREADONLY\b/.test(`${error}`)) fault = REPLICA;
      throw error;
    }
  };
  return {
    command,
    /** Resolves with the connection, after the first error, or if Redis does not answer: the client tries again by itself. */
    connect: async (): Promise<void> => {
      const answered = new Promise<void>((resolve, reject) => {
        client.once('error', () => resolve());
        client.connect().then(() => resolve(), reject);
      });
      const late = await Promise.race([answered, pause(PATIENCE, 'no answer yet')]);
      if (late) onError(late);
      checking = setInterval(check, CHECK);
    },
    /** Closes the connection without waiting for an answer, because a silent Redis gives none. */
    close: (): Promise<unknown> => {
      clearInterval(checking);
      return Promise.race([client.close(), pause(PATIENCE)]);
    },
  };
};
