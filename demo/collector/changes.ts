export interface Changes {
  /** Reports a change in the database or of the faults. */
  announce(): void;
  /** Adds a listener. Returns a function that removes it. */
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
