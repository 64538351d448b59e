// In a project of your own: 'clew/relay'.
import type { Forward, RedisCommand } from '../../src/relay.ts';

/** Redis, and the name of the stream between relays and workers. */
export interface StreamOptions {
  /** `(args) => client.sendCommand(args)` with `redis`; any other client does as well. */
  command: RedisCommand;
  stream: string;
}

/** How long (s) a page is asked to wait when Redis does not take a request. */
const RETRY_AFTER = '1';

/**
 * A relay's `forward` that appends to a Redis stream instead of calling the service: 201 when Redis has acknowledged, and
 * 503, which has the page keep its events, when it has not. What an acknowledgement is worth is Redis's configuration:
 * `appendonly yes`, `appendfsync always` and `maxmemory-policy noeviction` (README, "What an acknowledgement is worth").
 *
 * Nobody knows a customer's id yet: an upsert is answered 201 without the `id` that the service would give.
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
      // Perhaps it was appended and only the answer is lost: then it comes again, with the same ids.
      return new Response(`the broker did not take it: ${error}`, {
        status: 503,
        headers: { 'Retry-After': RETRY_AFTER },
      });
    }
  };

/**
 * Rejects when Redis has not answered after so many ms: clients wait for a connection that is stuck as long as it lasts, and
 * a page would with them. The command may still be carried out.
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

/** What an acknowledgement rests on, and is not set: one line for each. */
export const weakSpots = async (command: RedisCommand): Promise<string[]> => {
  const needed = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };
  const lines = Object.entries(needed).map(async ([name, value]) => {
    const answer = await command(['CONFIG', 'GET', name]).catch((error) => [`an error: ${error}`]);
    // A list of name and value in RESP2, a map in RESP3.
    const found = Object.values(answer as object).at(-1);
    return found === value ? [] : [`${name}: expected ${value}, got ${found}`];
  });
  return (await Promise.all(lines)).flat();
};
