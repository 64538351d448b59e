import { vi } from 'vitest';

/** The listener of a tab's messages. */
export type Receiver = (event: { data: unknown }) => void;

/** Connects the trackers that start next as tabs. Like a browser, it passes a copy of each message to all other tabs. */
export const connectTabs = (): void => {
  const open = new Set<Line>();
  class Line {
    onmessage: Receiver | undefined;
    readonly name: string;
    constructor(name: string) {
      this.name = name;
      open.add(this);
    }
    postMessage(message: unknown) {
      const data = structuredClone(message);
      for (const other of open)
        if (other !== this && other.name === this.name)
          queueMicrotask(() => open.has(other) && other.onmessage?.({ data }));
    }
    close() {
      open.delete(this);
    }
    /** The listeners of all other tabs, for a test that checks their exceptions. */
    receivers(): Receiver[] {
      return [...open].flatMap((other) => (other !== this && other.name === this.name && other.onmessage) || []);
    }
  }
  vi.stubGlobal('BroadcastChannel', Line);
};
