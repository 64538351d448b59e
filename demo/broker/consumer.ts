import type { RedisCommand } from '../../src/relay.ts';
import { type Entry, entryOf } from './entry.ts';
import type { StreamOptions } from './redis-streams.ts';

export interface ConsumerOptions extends StreamOptions {
  /** Waits for new entries on a connection of its own, because a waiting connection runs no other command. @default command */
  blockingCommand?: RedisCommand;
  /** Name of the group of consumers that share the entries. */
  group: string;
  /** Name of this consumer. No other running consumer of the group may have it. */
  consumer: string;
}

/** One event or upsert that the service has rejected for good. */
export interface Rejected {
  readonly text: string;
  readonly reason: string;
}

/** A worker's operations on the stream. If one rejects, Redis may have carried it out or not. Each can be called again. */
export interface Consumer {
  /** Creates the group if there is none. The group's workers also receive entries from before the first worker started. */
  join(): Promise<void>;
  /** Takes over at most `count` entries that their consumers have not read for `idle` ms. */
  takeOver(count: number, idle: number): Promise<void>;
  /** Assigns at most `count` new entries to this consumer, after a wait of up to `block` ms for the first one. */
  takeNew(count: number, block?: number): Promise<void>;
  /** Ends the wait of `takeNew`, and prevents further waits. */
  unblock(): Promise<void>;
  /**
   * The oldest entries of this consumer that are not settled. Reading them resets their idle time, so the other consumers do not
   * take them over. Entries in `known` stay the same objects.
   */
  mine(count: number, known: readonly Entry[]): Promise<Entry[]>;
  /** Stores which units of an entry are settled, and deletes the entry once all are. `rejected` goes to a stream of its own. */
  settle(entry: Entry, rejected?: Rejected): Promise<void>;
  /** Allows other consumers to take over these entries at once. */
  giveUp(entries: readonly Entry[]): Promise<void>;
}

/** An idle time (ms) that is longer than any `takeOverAfter`. */
const LONG_AGO = '86400000';
const REASON_LENGTH = 500;

/**
 * One script, so that a worker that crashes leaves no entry half settled. The script can run twice, because a worker that gets no
 * answer runs it again. KEYS: stream, progress, rejected. ARGV: group, id, settled units or '' for all, and the text, path and
 * reason of the rejected unit.
 */
const SETTLE = `
  local group, id, done = ARGV[1], ARGV[2], ARGV[3]
  if done == '' then
    if redis.call('XACK', KEYS[1], group, id) == 0 then return 0 end
    redis.call('XDEL', KEYS[1], id)
    redis.call('HDEL', KEYS[2], id)
  else
    if redis.call('HGET', KEYS[2], id) == done then return 0 end
    redis.call('HSET', KEYS[2], id, done)
  end
  if ARGV[4] then redis.call('XADD', KEYS[3], '*', 'text', ARGV[4], 'path', ARGV[5], 'reason', ARGV[6], 'entry', id) end
  return 1`;

/** Pairs of id and fields from an answer to XREADGROUP, which is a list in RESP2 and a map in RESP3. */
const pairsOf = (answer: unknown): [id: string, fields: string[] | null][] => {
  const byStream = Array.isArray(answer) || answer instanceof Map ? Object.fromEntries(answer) : (answer ?? {});
  return Object.values(byStream).flat() as [string, string[] | null][];
};

const recordOf = (fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(fields.flatMap((name, at) => (at % 2 ? [] : [[name, fields[at + 1] ?? '']])));

/** A consumer of a Redis stream (Redis 6.2 or later). */
export const createConsumer = (options: ConsumerOptions): Consumer => {
  const { command, blockingCommand = command, stream, group, consumer } = options;
  const [progress, rejections] = [`${stream}:progress`, `${stream}:rejected`];
  let cursor = '0-0';
  /** Id of the connection that waits for new entries. */
  let waiting: unknown;
  let isLeaving = false;

  const settle = (id: string, done: string, rejected: string[]) =>
    command(['EVAL', SETTLE, '3', stream, progress, rejections, group, id, done, ...rejected]).then(() => {});

  const read = (id: string, count: number, block: readonly string[]) =>
    (block[0] ? blockingCommand : command)(
      ['XREADGROUP', 'GROUP', group, consumer, 'COUNT', `${count}`, ...block].concat('STREAMS', stream, id),
    );

  /** Settles an entry that cannot be sent: no relay has appended it, or it was deleted from the stream. */
  const discard = (id: string, fields: readonly string[] | null) =>
    settle(id, '', [JSON.stringify(fields), '', fields ? 'not appended by a relay' : 'no longer in the stream']);

  return {
    async join() {
      await command(['XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM']).catch((error) => {
        if (!`${error}`.includes('BUSYGROUP')) throw error;
      });
    },
    async takeOver(count, idle) {
      const claim = ['XAUTOCLAIM', stream, group, consumer, `${idle}`, cursor, 'COUNT', `${count}`, 'JUSTID'];
      [cursor] = (await command(claim)) as [string];
    },
    async takeNew(count, block) {
      // Read again each time, because a connection has a new id after it reconnects.
      waiting = block === undefined ? undefined : await blockingCommand(['CLIENT', 'ID']);
      if (isLeaving) return;
      await read('>', count, block === undefined ? [] : ['BLOCK', `${block}`]);
      waiting = undefined;
    },
    async unblock() {
      isLeaving = true;
      if (waiting !== undefined && blockingCommand !== command) await command(['CLIENT', 'UNBLOCK', `${waiting}`]);
    },
    async mine(count, known) {
      const entries: Entry[] = [];
      for (const [id, fields] of pairsOf(await read('0', count, []))) {
        const entry = known.find((one) => one.id === id) ?? (fields && entryOf(id, recordOf(fields)));
        if (entry) entries.push(entry);
        else await discard(id, fields);
      }
      const fresh = entries.filter((entry) => !known.includes(entry));
      if (!fresh[0]) return entries;
      const done = (await command(['HMGET', progress, ...fresh.map(({ id }) => id)])) as (string | null)[];
      for (const [at, { settled }] of fresh.entries())
        for (const n of done[at]?.split(',') ?? []) settled.add(Number(n));
      return entries;
    },
    settle(entry, rejected) {
      const { id, path, units, settled } = entry;
      const done = settled.size < units.length ? [...settled].join() : '';
      return settle(id, done, rejected ? [rejected.text, path, rejected.reason.slice(0, REASON_LENGTH)] : []);
    },
    async giveUp(entries) {
      const ids = entries.map(({ id }) => id);
      if (ids[0]) await command(['XCLAIM', stream, group, consumer, '0', ...ids, 'IDLE', LONG_AGO, 'JUSTID']);
    },
  };
};
