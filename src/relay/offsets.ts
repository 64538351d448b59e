/** How long (ms) before the relay's clock each page load's clock is, for the relay's own memory or one that relays share. */
export interface Offsets {
  offsets(loads: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** The first offset of a page load counts. Resolves to that one. */
  setOffset(load: string, offset: number): Promise<number>;
}

/** Keeps the offsets of at least the newest `most` page loads, and at most twice as many, in this process. */
export const memoryOffsets = (most = 100_000): Offsets => {
  // Two maps, and the older one is dropped whole, because V8 searches a map from its beginning to find the first entry after
  // many deletions.
  let newer = new Map<string, number>();
  let older = newer;
  const of = (load: string) => newer.get(load) ?? older.get(load);
  return {
    offsets: async (loads) => loads.map(of),
    async setOffset(load, offset) {
      const first = of(load) ?? offset;
      newer.set(load, first);
      if (newer.size >= most) {
        older = newer;
        newer = new Map();
      }
      return first;
    },
  };
};
