import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { WireEvent } from '../../src/wire.ts';
import type { Redis } from '../redis.ts';
import type { Upstream } from '../upstream.ts';
import { createBroker, KEY } from './broker.ts';
import { type Running, start } from './process.ts';

export const SECRET = 'an-identity-secret-of-enough-bytes';
const BATCH = '/clew/api/events/batch/';

/** The two scripts of the example, as processes that end with SIGKILL after the test. */
export const openBroker = (redis: Redis, upstream: Upstream, takeOverAfter = 1000) => {
  const broker = createBroker(redis, upstream);
  const run = async (script: string, pattern: RegExp, env: Record<string, string>): Promise<Running> => {
    const common = { REDIS_URL: redis.url, STREAM: broker.stream };
    const running = await start(process.execPath, ['--import', 'tsx', script], pattern, { ...common, ...env });
    onTestFinished(async () => void (await running.end('SIGKILL')));
    return running;
  };
  return {
    ...broker,
    startRelay: () =>
      run('demo/broker/relay.ts', /clew relay: (http:.*)\n/, {
        PORT: '0',
        MAX_PENDING: '5700',
        TIMEOUT: '900',
        IDENTITY_SECRET: SECRET,
      }),
    startWorker: () =>
      run('demo/broker/run-worker.ts', /delivers to (.*)\n/, {
        BASE_URL: upstream.url,
        API_KEY: KEY,
        TAKE_OVER_AFTER: `${takeOverAfter}`,
      }),
  };
};

export const uuidsOf = (batch: readonly WireEvent[]) => batch.map(({ uuid }) => uuid);
/** Pages that post to the relay, whose address may change. Like the tracker, they post a batch again until it is confirmed. */
export const createPages = (url: () => string) => {
  /** Ids in requests without an answer, or with a failure. */
  const unconfirmed = new Set<string>();
  const replies: { status: number; retryAfter: string | null }[] = [];
  const answers = new EventEmitter();
  const confirmed = () => replies.filter(({ status }) => status < 300).length;
  const post = async (batch: readonly WireEvent[]): Promise<void> => {
    const request = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ batch }),
    };
    for (;;) {
      const reply = await fetch(url() + BATCH, request).catch(() => undefined);
      await reply?.text().catch(() => {});
      if (reply) replies.push({ status: reply.status, retryAfter: reply.headers.get('Retry-After') });
      answers.emit('answer');
      if (reply?.ok) return;
      for (const uuid of uuidsOf(batch)) unconfirmed.add(uuid);
      await pause(50);
    }
  };
  return {
    unconfirmed,
    replies,
    /** Resolves as soon as `count` batches are confirmed, before the pages can post all the rest. */
    async haveConfirmed(count: number): Promise<void> {
      while (confirmed() < count) await once(answers, 'answer');
    },
    /** Posts the batches, four at a time. */
    async postAll(batches: readonly WireEvent[][]): Promise<void> {
      const open = [...batches];
      const one = async () => {
        for (let batch = open.shift(); batch; batch = open.shift()) await post(batch);
      };
      await Promise.all([one(), one(), one(), one()]);
    },
  };
};
