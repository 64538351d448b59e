import { randomUUID } from 'node:crypto';
import { onTestFinished, vi } from 'vitest';
import { connect } from '../../demo/broker/redis.ts';
import { createRedisForward } from '../../demo/broker/redis-streams.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../demo/broker/worker.ts';
import { toService } from '../../src/relay/forward.ts';
import type { Forward } from '../../src/relay.ts';
import type { WireEvent } from '../../src/wire.ts';
import type { Redis } from '../redis.ts';
import type { Upstream } from '../upstream.ts';

export const KEY = 'the-secret-key';
const VISITOR_ID = '01234567-89ab-4cde-8f01-23456789abcd';
/** Waits (ms) that are short enough for a test. `answer.test.ts` checks the defaults. */
const SHORT = { first: 20, refused: 150 };

export const event = (name: string): WireEvent => ({
  uuid: randomUUID(),
  timestamp: new Date().toISOString(),
  event: name,
  source: 'custom',
  correlationKey: '_id',
  correlationValue: VISITOR_ID,
  payload: { name },
});

export const events = (count: number, prefix = ''): WireEvent[] =>
  Array.from({ length: count }, (_, n) => event(`${prefix}${n}`));

export const namesIn = (text: string): string[] => [...text.matchAll(/"event":"(.*?)"/g)].map(([, name]) => name ?? '');

/** Waits for a condition that no event reports. */
export const until = (holds: () => boolean | Promise<boolean>): Promise<unknown> =>
  vi.waitUntil(holds, { timeout: 30_000, interval: 20 });

/** The second and later occurrences of each id. */
export const repeatsIn = (ids: readonly string[]): string[] => ids.filter((id, at) => ids.indexOf(id) < at);

/** A stream of the test's own, and the verbs around it. */
export const createBroker = (redis: Redis, upstream: Upstream, stream: string = randomUUID()) => {
  const { command } = redis;
  const append = createRedisForward({ command, stream });
  const service = toService({ baseUrl: upstream.url, eventsUrl: upstream.url, apiKey: KEY, timeout: 5000, fetch });
  const taken: string[] = [];

  /** Answers with the status that the test chooses, and notes the events that the service has taken. */
  const answerBy = (statusOf: (names: string[], text: string) => number, headers: Record<string, string> = {}): void =>
    upstream.react((response, { text }) => {
      const status = statusOf(namesIn(text), text);
      if (status < 300) taken.push(...namesIn(text));
      response.writeHead(status, status === 503 ? headers : {}).end(status < 300 ? '' : 'poison');
    });
  answerBy(() => 201);

  return {
    stream,
    /** Names of the events that the service has taken, in order. */
    taken,
    answerBy,
    service,
    append: (batch: readonly WireEvent[]) => append({ path: '/api/events/batch/', body: JSON.stringify({ batch }) }),
    forward: append,
    async work(name = 'one', options: Partial<WorkerOptions> = {}): Promise<Worker & { errors: string[] }> {
      const waiting = await connect(redis.url);
      const errors: string[] = [];
      const worker = createWorker({
        command,
        blockingCommand: waiting.command,
        stream,
        group: 'workers',
        consumer: name,
        forward: service as Forward,
        waits: SHORT,
        onError: (message) => errors.push(message),
        ...options,
      });
      const stop = async () => {
        await worker.stop();
        waiting.client.destroy();
      };
      onTestFinished(stop);
      return { stop, errors };
    },
    /** Waits until each appended event is confirmed or given up. Nothing arrives after that. */
    async done(): Promise<void> {
      await until(async () => (await command(['XLEN', stream])) === 0);
    },
    left: async () => Number(await command(['XLEN', stream])),
    /** The entries that the worker has given up, as fields by name. */
    async rejected(): Promise<Record<string, string>[]> {
      const found = (await command(['XRANGE', `${stream}:rejected`, '-', '+'])) as [string, string[]][];
      return found.map(([, fields]) =>
        Object.fromEntries(fields.flatMap((name, at) => (at % 2 ? [] : [[name, fields[at + 1] ?? '']]))),
      );
    },
  };
};

/** Sends valid events until the stream is empty. The worker gives up an event after eight 500s with confirmed events between. */
export const sendUntilDone = async (broker: ReturnType<typeof createBroker>, upstream: Upstream): Promise<string[]> => {
  const names: string[] = [];
  await until(() => upstream.received.length > 0);
  while ((await broker.left()) > 0 && names.length < 500) {
    const more = event(`more${names.length}`);
    names.push(more.event);
    await broker.append([more]);
    await until(() => broker.taken.includes(more.event));
  }
  return names;
};

/** The same service with a count of its requests. */
export const counted = (forward: Forward) => {
  const counts = { requests: 0 };
  const counting: Forward = (request) => {
    counts.requests++;
    return forward(request);
  };
  return Object.assign(counting, { counts });
};
