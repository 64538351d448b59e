// @module-tag promise
import { expect, it, vi } from 'vitest';
import { createRandom } from '../../sim/world/random.ts';
import { describeWithRedis, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { events, repeatsIn, until } from './broker.ts';
import type { Running } from './process.ts';
import { createPages, openBroker, uuidsOf } from './running.ts';

// Each test starts many processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const redis = useRedis();
const upstream = useUpstream();
const arrived = (): string[] => upstream.received.flatMap(({ text }) => uuidsOf(JSON.parse(text).batch));
/** Time (ms) after which another worker takes over. A worker on a busy machine is late, but not by this much. */
const TAKE_OVER_AFTER = 5000;
const KILLS = 12;
/** Batches of each kill. */
const ROUND = 25;
const VICTIMS = ['relay 1', 'relay 2', 'worker 1', 'worker 2', 'redis'] as const;

/** Two relays and two workers with one Redis, and functions that kill one of them and start it again. */
const openAll = async () => {
  const broker = openBroker(redis(), upstream, TAKE_OVER_AFTER);
  const relays = [await broker.startRelay(), await broker.startRelay()];
  const workers = [await broker.startWorker(), await broker.startWorker()];
  /** Ids of events that the stream had at a kill, or may have had: workers deliver these again if the service has them. */
  const unacknowledged = new Set<string>();
  const note = (texts: readonly string[]) => {
    for (const [, id = ''] of texts.join().matchAll(/"uuid":"([^"]{36})"/g)) unacknowledged.add(id);
  };
  const noteStream = async () => {
    const entries = (await redis().command(['XRANGE', broker.stream, '-', '+'])) as [string, string[]][];
    note(entries.flatMap(([, fields]) => fields));
  };
  const replace = async (running: Running[], at: number, start: () => Promise<Running>) => {
    await running[at]?.end('SIGKILL');
    await noteStream();
    running[at] = await start();
  };
  const kills = {
    'relay 1': () => replace(relays, 0, broker.startRelay),
    'relay 2': () => replace(relays, 1, broker.startRelay),
    'worker 1': () => replace(workers, 0, broker.startWorker),
    'worker 2': () => replace(workers, 1, broker.startWorker),
    async redis() {
      await noteStream();
      const before = upstream.received.length;
      await redis().kill();
      await redis().restart();
      await redis().reconnected();
      await noteStream();
      note(upstream.received.slice(before).map(({ text }) => text));
    },
  };
  return { broker, relays, unacknowledged, kills };
};

describeWithRedis('two relays and two workers behind one Redis', () => {
  it.each([1, 2])('lose no event if SIGKILL ends any of them at random moments: seed %i', async (seed) => {
    const { broker, relays, unacknowledged, kills } = await openAll();
    const random = createRandom(`kills ${seed}`);
    const pages = createPages(() => random.pick(relays).ready);
    const batches = Array.from({ length: KILLS * ROUND }, (_, n) => events(5, `${n}-`));
    for (let kill = 0; kill < KILLS; kill++) {
      const confirmed = pages.replies.filter(({ status }) => status < 300).length;
      const posted = pages.postAll(batches.slice(kill * ROUND, (kill + 1) * ROUND));
      await pages.haveConfirmed(confirmed + random.below(ROUND - 5));
      await kills[random.pick(VICTIMS)]();
      await posted;
    }
    await broker.done();
    // Pages that have not read an answer send their batch again.
    await pages.postAll(batches);
    await broker.done();
    await until(() => new Set(arrived()).size === batches.length * 5);
    const repeats = repeatsIn(arrived());
    expect(repeats.filter((uuid) => !pages.unconfirmed.has(uuid) && !unacknowledged.has(uuid))).toEqual([]);
    expect(pages.unconfirmed.size).toBeGreaterThan(0);
    const statuses = new Set(pages.replies.map(({ status }) => status).filter((status) => status >= 300));
    for (const status of statuses) expect([502, 503, 504]).toContain(status);
  });
});
