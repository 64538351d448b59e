/** Which events have been taken: a page that left sends again what nobody could tell it had arrived. */
export interface Seen {
  has(uuid: string): boolean;
  add(uuids: readonly string[]): void;
}

/** In memory, the newest `most` of them. */
export const createSeen = (most: number): Seen => {
  const known = new Set<string>();
  return {
    has: (uuid) => known.has(uuid),
    add(uuids) {
      for (const uuid of uuids) known.add(uuid);
      for (const uuid of known) {
        if (known.size <= most) break;
        known.delete(uuid);
      }
    },
  };
};
