import { createHeap } from './heap.ts';
import type { Random } from './random.ts';

/** A page or a process that has tasks. While it is suspended, its tasks wait. Once it is gone, its tasks never run. */
export interface Owner {
  readonly name: string;
  state: 'running' | 'suspended' | 'gone';
  /** Tasks that came due while it was suspended, in order. */
  readonly held: Task[];
}

export interface Task {
  due: number;
  /** Decides between tasks that are due at the same time. */
  order: number;
  readonly label: string;
  readonly owner: Owner | undefined;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Tasks of one lane run in the order in which they were scheduled. */
export interface Lane {
  due: number;
  order: number;
}

interface Options {
  owner?: Owner | undefined;
  lane?: Lane;
}

export interface Scheduler {
  /** Virtual time in ms since the world began. */
  now(): number;
  /** Runs `run` in a task of its own, `delay` ms from now. Returns the function that cancels it. */
  after(delay: number, label: string, run: () => void, options?: Options): () => void;
  /** Runs `run` before all other tasks, once the current task and its microtasks have ended. */
  next(label: string, run: () => void): void;
  /** The owner's tasks may run again. */
  resume(owner: Owner): void;
  /** Runs one task and all of its microtasks. Resolves to the task, or to undefined when none is left before `until`. */
  step(until: number): Promise<Task | undefined>;
  /** Lets time pass without a task. */
  skipTo(time: number): void;
}

export const createLane = (): Lane => ({ due: 0, order: 0 });

/** Number of immediates queued at once. With one immediate per turn of Node's event loop, each turn would poll the system. */
const IMMEDIATES = 100;
const waiting: (() => void)[] = [];
let queued = 0;

const proceed = () => {
  queued--;
  for (const resolve of waiting.splice(0)) resolve();
};

/** Resolves once the queues of microtasks and of `process.nextTick` are empty. Node drains them between two immediates. */
export const drainMicrotasks = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve);
    if (!queued) for (; queued < IMMEDIATES; queued++) setImmediate(proceed);
  });

/** One queue of tasks in virtual time. If several tasks are due, `random` decides which task runs first. */
export const createScheduler = (random: Random): Scheduler => {
  const queue = createHeap<Task>((a, b) => a.due < b.due || (a.due === b.due && a.order < b.order));
  const front: Task[] = [];
  let now = 0;

  const take = (until: number): Task | undefined => {
    const first = front.shift();
    if (first) return first;
    for (let task = queue.pop(); task; task = queue.pop()) {
      if (task.isCancelled || task.owner?.state === 'gone') continue;
      if (task.due > until) {
        queue.push(task);
        return undefined;
      }
      now = Math.max(now, task.due);
      if (task.owner?.state !== 'suspended') return task;
      task.owner.held.push(task);
    }
    return undefined;
  };

  return {
    now: () => now,
    after(delay, label, run, { owner, lane } = {}) {
      const task: Task = { due: now + Math.max(delay, 0), order: random.next(), label, owner, run, isCancelled: false };
      if (lane) {
        if (task.due <= lane.due) {
          task.due = lane.due;
          task.order = lane.order + (1 - lane.order) * 1e-3;
        }
        lane.due = task.due;
        lane.order = task.order;
      }
      queue.push(task);
      return () => {
        task.isCancelled = true;
      };
    },
    next(label, run) {
      front.push({ due: now, order: 0, label, owner: undefined, run, isCancelled: false });
    },
    resume(owner) {
      for (const task of owner.held.splice(0)) queue.push(task);
    },
    async step(until) {
      const task = take(until);
      task?.run();
      await drainMicrotasks();
      return task;
    },
    skipTo(time) {
      now = Math.max(now, time);
    },
  };
};
