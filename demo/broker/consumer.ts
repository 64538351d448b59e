import type { RedisCommand } from '../../src/relay.ts';
import { type Entry, entryOf } from './entry.ts';
import type { StreamOptions } from './redis-streams.ts';

export interface ConsumerOptions extends StreamOptions {
  /** Waits for what comes, on a connection of its own: while it waits, nothing else passes. @default command */
  blockingCommand?: RedisCommand;
  /** Those who share the work. */
  group: string;
  /** This one's name in the group, which no other living one may have. */
  consumer: string;
}

/** One event, or upsert, that the service has refused for good. */
export interface Rejected {
  readonly text: string;
  readonly reason: string;
}

/** What a worker does to the stream. Everything may reject: then Redis may have carried it out or not, and it can be done again. */
export interface Consumer {
  /** Creates the group where there is none, before the first entry: what was appended before the first worker counts, too. */
  join(): Promise<void>;
  /** Takes over at most `count` entries whose consumer has not been heard of for `idle` ms. */
  takeOver(count: number, idle: number): Promise<void>;
  /** Makes at most `count` new entries this consumer's; with `block`, waits so many ms for the first. */
  takeNew(count: number, block?: number): Promise<void>;
  /** Ends such a wait, and begins none any more. */
  unblock(): Promise<void>;
  /**
   * The oldest entries that are this consumer's and not settled. That they have been asked for tells the group that this consumer
   * is alive. Entries already `known` stay the same objects.
   */
  mine(count: number, known: readonly Entry[]): Promise<Entry[]>;
  /** Writes down what of an entry is settled, and forgets the entry when all is; with what was rejected of it. */
  settle(entry: Entry, rejected?: Rejected): Promise<void>;
  /** Lets others take these over at once. */
  giveUp(entries: readonly Entry[]): Promise<void>;
}

/** Long enough for anybody: entries that have been idle for so long (ms) are taken over. */
const LONG_AGO = '86400000';
const REASON_LENGTH = 500;

/**
 * In one script, so that a worker that dies can leave nothing half settled; and harmless when it runs again, because nobody
 * knew whether it had run. KEYS: stream, progress, rejected. ARGV: group, id, settled units or '' for all, and of what
 * was rejected the text, path and reason.
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

/** Pairs of id and fields from an XREADGROUP's answer: a list in RESP2, a map in RESP3. */
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
  /** The connection that is waiting. */
  let waiting: unknown;
  let isLeaving = false;

  const settle = (id: string, done: string, rejected: string[]) =>
    command(['EVAL', SETTLE, '3', stream, progress, rejections, group, id, done, ...rejected]).then(() => {});

  const read = (id: string, count: number, block: readonly string[]) =>
    (block[0] ? blockingCommand : command)(
      ['XREADGROUP', 'GROUP', group, consumer, 'COUNT', `${count}`, ...block].concat('STREAMS', stream, id),
    );

  /** Not a relay's, or cut out of the stream by somebody: nothing that could be sent. */
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
      // Each time: a connection that was lost has come back with another one.
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
