// In a project of your own: 'clew/relay'.
import type { Forward, RedisCommand } from '../../src/relay.ts';

/** Redis, and the name of the stream between relays and workers. */
export interface StreamOptions {
  /** `(args) => client.sendCommand(args)` with the package `redis`. Any other client works, too. */
  command: RedisCommand;
  stream: string;
}

/** How long (s) the relay asks a page to wait if Redis does not take a request. */
const RETRY_AFTER = '1';

/**
 * A relay's `forward` that appends to a Redis stream instead of calling the service. This `forward` answers 201 once Redis has
 * acknowledged, and otherwise 503, so that the page keeps its events. Acknowledged events survive a crash of Redis only with
 * `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction` (README, "What an acknowledgement is worth").
 *
 * The answer to an upsert lacks the `id` that the service would give, because the service has not created the customer yet.
 *
 * @example
 * createRelay({ forward: createRedisForward({ command, stream: 'clew' }), seen: redisSeen(command) })
 */
export const createRedisForward =
  ({ command, stream }: StreamOptions): Forward =>
  async ({ path, body }) => {
    try {
      await command(['XADD', stream, '*', 'path', path, 'body', body]);
      return new Response(null, { status: 201 });
    } catch (error) {
      // Redis may have appended the request although its answer is lost. The page then sends the same ids again.
      return new Response(`the broker did not take it: ${error}`, {
        status: 503,
        headers: { 'Retry-After': RETRY_AFTER },
      });
    }
  };

/**
 * Rejects if Redis has not answered after `ms` ms. Without it, a client waits for as long as a connection is stuck, and the
 * page waits with it. Redis may still carry out the command.
 */
export const withTimeout =
  (command: RedisCommand, ms: number): RedisCommand =>
  async (args) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Redis did not answer ${args[0]} within ${ms} ms`)), ms);
    });
    try {
      return await Promise.race([command(args), late]);
    } finally {
      clearTimeout(timer);
    }
  };

/** The settings that acknowledgements need and that Redis lacks, one line for each. */
export const weakSpots = async (command: RedisCommand): Promise<string[]> => {
  const needed = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };
  const lines = Object.entries(needed).map(async ([name, value]) => {
    const answer = await command(['CONFIG', 'GET', name]).catch((error) => [`an error: ${error}`]);
    // The answer is a list of name and value in RESP2, and a map in RESP3.
    const found = Object.values(answer as object).at(-1);
    return found === value ? [] : [`${name}: expected ${value}, got ${found}`];
  });
  return (await Promise.all(lines)).flat();
};
