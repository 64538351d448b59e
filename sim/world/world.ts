import { createRandom, type Random } from './random.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';

/** When the world begins: 2026-01-01, in ms since the epoch. */
export const EPOCH = 1_767_225_600_000;

/** Random numbers, time and findings, which all parts of one simulation share. */
export interface World {
  readonly random: Random;
  readonly scheduler: Scheduler;
  /** Wall clock in ms since the epoch: virtual time and `skew`. */
  clock(): number;
  /** Wall clock of servers in ms since the epoch: virtual time without `skew`. */
  serverClock(): number;
  /** How far the wall clock has been set ahead, in ms. */
  skew: number;
  /** Whether the timeline is printed. */
  readonly isPrinted: boolean;
  /** Adds a line to the timeline. `make` runs only if the timeline is printed. */
  log(who: string, make: () => string): void;
  /** Reports a broken invariant. */
  break(invariant: string, detail: string): void;
  readonly broken: Broken[];
}

export interface Broken {
  readonly invariant: string;
  readonly detail: string;
  readonly at: number;
}

export const createWorld = (seed: number | string, print?: (line: string) => void): World => {
  const random = createRandom(seed);
  const scheduler = createScheduler(random.fork('scheduler'));
  const broken: Broken[] = [];
  const world: World = {
    random: random.fork('world'),
    scheduler,
    skew: 0,
    isPrinted: !!print,
    clock: () => Math.floor(EPOCH + scheduler.now() + world.skew),
    serverClock: () => Math.floor(EPOCH + scheduler.now()),
    log(who, make) {
      print?.(`${(scheduler.now() / 1000).toFixed(3).padStart(9)} s  ${who.padEnd(9)} ${make()}`);
    },
    break(invariant, detail) {
      broken.push({ invariant, detail, at: scheduler.now() });
      const isFirst = broken.filter((other) => other.invariant === invariant).length === 1;
      if (isFirst) world.log('broken', () => `${invariant}: ${detail}`);
    },
    broken,
  };
  return world;
};
