import { setTimeout as pause } from 'node:timers/promises';
import type { Forward } from '../../src/relay.ts';
import { type Answer, ask, WAITS, type Waits, waitAfter } from './answer.ts';
import { type ConsumerOptions, createConsumer, type Rejected } from './consumer.ts';
import { type Cut, type Entry, openUnits } from './entry.ts';
import { createSorting } from './sorting.ts';

export interface WorkerOptions extends ConsumerOptions {
  /** Sends a request to the service, as `toService` does. The time-out has to be well below `takeOverAfter`. */
  forward: Forward;
  /**
   * How long (ms) a worker may leave its entries unread before other workers take them over.
   *
   * @default 60000
   */
  takeOverAfter?: number;
  waits?: Partial<Waits>;
  /** Receives each failure, and each dropped event with its reason. */
  onError?: (message: string) => void;
}

export interface Worker {
  /** Resolves once the current request is answered and stored. Other workers take over all other entries at once. */
  stop(): Promise<void>;
}

/** How many entries a worker holds at a time, besides those of suspects. */
const PREFETCH = 10;
/** How long (ms) a worker waits for new entries before it looks for the entries of crashed workers again. */
const BLOCK = 1000;
/** The pause (ms) after Redis has failed. */
const REDIS_PAUSE = 1000;
/** The pause (ms) after several single events were rejected in a row. */
const PROBE_PAUSE = 250;

/**
 * Delivers the entries that relays append to a Redis stream. A worker sends one request at a time, in order except for rejected
 * events. Any number of workers may share a stream. Order is then kept within an entry only.
 *
 * @example
 * const worker = createWorker({ command, blockingCommand, stream: 'clew', group: 'clew', consumer: hostname(), forward });
 * process.once('SIGTERM', () => worker.stop());
 */
export const createWorker = (options: WorkerOptions): Worker => {
  const { forward, takeOverAfter = 60_000, onError = () => {} } = options;
  const waits = { ...WAITS, ...options.waits };
  const consumer = createConsumer(options);
  /** After this time (ms), the worker reads its entries again: at least twice before the others may take them over. */
  const renewal = takeOverAfter / 3;
  const sorting = createSorting(waits);
  const stopping = new AbortController();
  /** This worker's own entries, in order, as Redis returned them at `readAt`. */
  let held: Entry[] = [];
  let readAt = 0;
  let hasJoined = false;
  /** The entry whose units the service has just confirmed or rejected, until Redis has stored that. */
  let unsaved: [Entry, Rejected?] | undefined;
  let failures = 0;
  /** The worker sends nothing before this time (ms since the epoch). */
  let until = 0;
  /** Set while there are only suspects. From this time (ms since the epoch) on, one of them is sent again. */
  let forcedAt: number | undefined;

  const sleep = (ms: number) => pause(ms, undefined, { signal: stopping.signal }).catch(() => {});

  const save = async () => {
    if (!unsaved) return;
    await consumer.settle(...unsaved);
    unsaved = undefined;
    held = held.filter(({ units, settled }) => settled.size < units.length);
  };

  const refresh = async () => {
    if (!hasJoined) await consumer.join();
    hasJoined = true;
    // Suspects do not count, because other entries have to show whether the service works.
    const count = PREFETCH + sorting.held();
    const isOpen = held.length < count && !sorting.isFull();
    if (isOpen) await consumer.takeOver(count - held.length, takeOverAfter);
    if (isOpen) await consumer.takeNew(count - held.length);
    const startedAt = Date.now();
    const mine = await consumer.mine(count, held);
    held = [...held.filter((entry) => mine.includes(entry)), ...mine.filter((entry) => !held.includes(entry))];
    sorting.keep(held.flatMap(openUnits));
    readAt = startedAt;
  };

  const judge = (cut: Cut, { outcome, status, retryAfter, message }: Answer) => {
    const verdict = sorting.judge(cut, outcome, status, Date.now());
    if (outcome === 'delivered') failures = 0;
    else onError(verdict === 'settled' ? `given up: ${message}` : message);
    if (verdict === 'probe') until = Date.now() + PROBE_PAUSE;
    if (verdict === 'wait')
      until = Date.now() + waitAfter({ before: failures++, isRefused: outcome === 'refused', retryAfter }, waits);
    const [first] = cut.units;
    if (verdict !== 'settled' || !first) return;
    for (const { entry, at } of cut.units) entry.settled.add(at);
    const { entry, at } = first;
    unsaved = outcome === 'delivered' ? [entry] : [entry, { text: entry.units[at] ?? '', reason: message }];
  };

  /** Waits for new entries, or until a suspect may be sent again. */
  const waitForOthers = () => {
    forcedAt ??= Date.now() + waitAfter({ before: failures++, isRefused: false, retryAfter: 0 }, waits);
    return sorting.isFull() ? sleep(BLOCK) : consumer.takeNew(PREFETCH, BLOCK);
  };

  const turn = async () => {
    await save();
    if (held.length < 2 + sorting.held() || Date.now() - readAt > renewal) await refresh();
    const units = held.flatMap(openUnits);
    const wait = until - Date.now();
    if (!units[0]) return consumer.takeNew(PREFETCH, BLOCK);
    // A wait above the limit is void, because then the clock has jumped.
    if (wait > 0 && wait <= waits.limit) return sleep(Math.min(wait, renewal));
    const cut = sorting.next(units, Date.now(), forcedAt !== undefined && Date.now() >= forcedAt);
    if (!cut) return waitForOthers();
    if (stopping.signal.aborted) return;
    forcedAt = undefined;
    judge(cut, await ask(forward, cut.request));
    await save();
  };

  const run = async () => {
    while (!stopping.signal.aborted) {
      await turn().catch((error) => {
        onError(`Redis: ${error}`);
        // Another worker may have taken over. If Redis has lost its data, it has also lost the group.
        readAt = 0;
        hasJoined = false;
        return sleep(REDIS_PAUSE);
      });
    }
    await save();
    // This includes entries that were taken a moment ago and not read yet.
    await consumer.giveUp(await consumer.mine(PREFETCH + held.length, held));
  };

  const ended = run().catch((error) => onError(`Redis: ${error}`));
  return {
    stop() {
      stopping.abort();
      // If this fails, the wait ends after `BLOCK`.
      consumer.unblock().catch(() => {});
      return ended;
    },
  };
};
