import { setTimeout as pause } from 'node:timers/promises';
import type { Forward } from '../../src/relay.ts';
import { type Answer, ask, WAITS, type Waits, waitAfter } from './answer.ts';
import { type ConsumerOptions, createConsumer, type Rejected } from './consumer.ts';
import { type Cut, type Entry, openUnits } from './entry.ts';
import { createSorting } from './sorting.ts';

export interface WorkerOptions extends ConsumerOptions {
  /** To the service: `toService`. It has to give up well before `takeOverAfter`. */
  forward: Forward;
  /**
   * How long (ms) nothing must be heard of a worker before the others take over what it has.
   *
   * @default 60000
   */
  takeOverAfter?: number;
  waits?: Partial<Waits>;
  /** Hears what goes wrong, and what is given up and why. */
  onError?: (message: string) => void;
}

export interface Worker {
  /** Resolves when the request under way is answered and written down; what was not begun others take over at once. */
  stop(): Promise<void>;
}

/** So many entries are one worker's at a time, besides those of suspects. */
const PREFETCH = 10;
/** How long (ms) new entries are waited for, before it is looked again for what dead workers have left. */
const BLOCK = 1000;
/** How long (ms) after Redis has failed. */
const REDIS_PAUSE = 1000;
/** How long (ms) after several single events were refused in a row. */
const PROBE_PAUSE = 250;

/**
 * Delivers what relays have appended to a Redis stream, from now on: one request at a time, in order but for refused events.
 * Any number of workers may share a stream. Order is then kept within an entry only.
 *
 * @example
 * const worker = createWorker({ command, blockingCommand, stream: 'clew', group: 'clew', consumer: hostname(), forward });
 * process.once('SIGTERM', () => worker.stop());
 */
export const createWorker = (options: WorkerOptions): Worker => {
  const { forward, takeOverAfter = 60_000, onError = () => {} } = options;
  const waits = { ...WAITS, ...options.waits };
  const consumer = createConsumer(options);
  /** By then this worker tells the group again that it is alive: twice at least before the others think it dead. */
  const renewal = takeOverAfter / 3;
  const sorting = createSorting(waits);
  const stopping = new AbortController();
  /** This worker's own entries, in order, as the group knew them at `readAt`. */
  let held: Entry[] = [];
  let readAt = 0;
  let hasJoined = false;
  /** What the service has answered for, and Redis does not know yet. */
  let unsaved: [Entry, Rejected?] | undefined;
  let failures = 0;
  /** Nothing is sent before then. */
  let until = 0;
  /** Set while there are only suspects: from then on one of them goes again. */
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
    // Suspects do not count: behind them there has to be something to try.
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

  /** Waits for new entries, or until a suspect may go again. */
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
    // A time that is further off than it can be is void: clocks jump.
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
        // Another worker may have taken over; a Redis that has lost all has lost the group, too.
        readAt = 0;
        hasJoined = false;
        return sleep(REDIS_PAUSE);
      });
    }
    await save();
    // Also what was taken a moment ago, and not looked at any more.
    await consumer.giveUp(await consumer.mine(PREFETCH + held.length, held));
  };

  const ended = run().catch((error) => onError(`Redis: ${error}`));
  return {
    stop() {
      stopping.abort();
      // Without it, `BLOCK` ends the wait.
      consumer.unblock().catch(() => {});
      return ended;
    },
  };
};
