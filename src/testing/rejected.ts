import type { Answer } from '../courier/transport.js';
import type { Upsert } from '../wire.js';

/** Remembers which properties of customers a relay has rejected, until a later upsert delivers them. */
export const createRejected = () => {
  const rejected = new Map<unknown, ReadonlySet<string>>();
  return {
    note({ outcome }: Answer, { primary_key: key, properties }: Partial<Upsert>): void {
      const before = rejected.get(key) ?? [];
      const names = Object.keys(properties ?? {});
      if (outcome === 'rejected') rejected.set(key, new Set([...before, ...names]));
      if (outcome !== 'delivered') return;
      const rest = [...before].filter((name) => !names.includes(name));
      if (rest[0] === undefined) rejected.delete(key);
      else rejected.set(key, new Set(rest));
    },
    customers: (): unknown[] => [...rejected.keys()],
  };
};
