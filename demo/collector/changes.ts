export interface Changes {
  /** Says that something in the database or the faults is no longer what it was. */
  announce(): void;
  /** Listens; gives back what ends the listening. */
  on(listener: () => void): () => void;
}

export function createChanges(): Changes {
  const listeners = new Set<() => void>();
  return {
    announce() {
      for (const listener of listeners) listener();
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
