import { createHash } from 'node:crypto';

/** A stream of random numbers made from a seed. The same seed gives the same numbers on every machine. */
export interface Random {
  /** 0 or more, below 1. */
  next(): number;
  /** A whole number of 0 or more, below `limit`. */
  below(limit: number): number;
  /** `from` or more, below `to`. */
  between(from: number, to: number): number;
  /** True in a share of `probability` of all calls. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** At most 32 bytes, by SHA-256. The 32-bit numbers of two streams may overlap, and pages make event ids of bytes. */
  bytes(count: number): Buffer;
  /** An independent stream: draws of one part of the world do not change the numbers of another part. */
  fork(name: string): Random;
}

/** FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
};

/** mulberry32, a generator of 32 bits. */
export const createRandom = (seed: number | string): Random => {
  const start = hashOf(`${seed}`);
  let state = start;
  let drawn = 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (from, to) => from + next() * (to - from),
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] as never,
    bytes: (count) => createHash('sha256').update(`${seed} ${drawn++}`).digest().subarray(0, count),
    fork: (name) => createRandom(`${seed}/${name}`),
  };
};
