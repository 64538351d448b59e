import type { World } from '../world/world.ts';

/** Writes a map to the disk a while after a change. */
export interface Saving {
  soon(): void;
  /** A SIGKILL: the map is again as it is on the disk. Returns the keys that come back, because their deletion was not on the disk. */
  undo(): string[];
}

export const createSaving = (
  { scheduler }: World,
  entries: Map<string, string>,
  delay: number,
  what: string,
): Saving => {
  let durable = new Map<string, string>();
  let isSaving = false;
  return {
    soon() {
      if (isSaving) return;
      isSaving = true;
      scheduler.after(delay, `${what} to disk`, () => {
        isSaving = false;
        durable = new Map(entries);
      });
    },
    undo() {
      const back = [...durable.keys()].filter((key) => !entries.has(key));
      entries.clear();
      for (const [key, value] of durable) entries.set(key, value);
      return back;
    },
  };
};
