import { setTimeout as pause } from 'node:timers/promises';
import { isOn, newBisection, refused, SETTLED, taken, unanswered, WAIT } from '../../src/courier/bisect.ts';
import type { Forward } from '../../src/relay.ts';
import { type Answer, ask, WAITS, type Waits, waitAfter } from './answer.ts';
import { type ConsumerOptions, createConsumer, type Rejected } from './consumer.ts';
import { type Cut, type Entry, nextCut, openUnits } from './entry.ts';

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

/** So many entries are one worker's at a time: enough to see whether another event gets through. */
const PREFETCH = 10;
/** How long (ms) new entries are waited for, before it is looked again for what dead workers have left. */
const BLOCK = 1000;
/** How long (ms) after Redis has failed. */
const REDIS_PAUSE = 1000;

/**
 * Delivers what relays have appended to a Redis stream, from now on: one request at a time, in order, by the tracker's own
 * rules for answers. Any number may share a stream; order is then kept within an entry only.
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
  // The service says with 413 what it does not take.
  const bisection = newBisection(Number.POSITIVE_INFINITY);
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
    // What was refused does not count: behind it there has to be something to try.
    const count = PREFETCH + bisection.aside + bisection.proven;
    if (held.length < count) await consumer.takeOver(count - held.length, takeOverAfter);
    if (held.length < count) await consumer.takeNew(count - held.length);
    const startedAt = Date.now();
    const mine = await consumer.mine(count, held);
    const kept = held.filter((entry) => mine.includes(entry));
    // The bisection counts from the front, which is another one now.
    if (kept.length < held.length) bisection.aside = bisection.proven = 0;
    held = [...kept, ...mine.filter((entry) => !kept.includes(entry))];
    readAt = startedAt;
  };

  const judge = ({ units, bytes }: Cut, isLast: boolean, answer: Answer) => {
    const [first, second] = units;
    const { outcome, status, retryAfter, message } = answer;
    const verdict =
      outcome === 'delivered'
        ? taken(bisection, bytes, isLast)
        : outcome === 'rejected' || (status === 500 && isOn(bisection))
          ? refused(bisection, bytes, !second, isLast, status)
          : unanswered(bisection, bytes);
    if (outcome === 'delivered') failures = 0;
    else onError(verdict === SETTLED ? `given up: ${message}` : message);
    if (verdict === WAIT) {
      const isRefused = outcome !== 'failed';
      until = Date.now() + waitAfter({ before: failures++, isRefused, retryAfter }, waits);
    }
    if (verdict !== SETTLED || !first) return;
    for (const { entry, at } of units) entry.settled.add(at);
    const { entry, at } = first;
    unsaved = outcome === 'delivered' ? [entry] : [entry, { text: entry.units[at] ?? '', reason: message }];
  };

  const turn = async () => {
    await save();
    if (held.length < 2 || isOn(bisection) || Date.now() - readAt > renewal) await refresh();
    const units = held.flatMap(openUnits);
    const wait = until - Date.now();
    if (!units[0]) return consumer.takeNew(PREFETCH, BLOCK);
    // A time that is further off than it can be is void: clocks jump.
    if (wait > 0 && wait <= waits.limit) return sleep(Math.min(wait, renewal));
    if (!units[bisection.aside]) bisection.aside = 0;
    const waiting = units.slice(bisection.aside);
    const cut = nextCut(waiting, bisection.most, Date.now());
    if (!cut || stopping.signal.aborted) return;
    judge(cut, !waiting[cut.units.length], await ask(forward, cut.request));
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
