import { vi } from 'vitest';

/** The listener of a tab's messages. */
export type Receiver = (event: { data: unknown }) => void;

/**
 * Connects the trackers that start next as tabs. Like a browser, it passes a copy of each message to all other tabs.
 *
 * @returns `freeze` holds back the messages to the tab that has started first, and `thaw` passes them on, each in a task of its own
 */
export const connectTabs = (): { freeze(): void; thaw(): Promise<void> } => {
  const open = new Set<Line>();
  let first: Line | undefined;
  let late: unknown[] | undefined;
  class Line {
    onmessage: Receiver | undefined;
    readonly name: string;
    constructor(name: string) {
      this.name = name;
      first ??= this;
      open.add(this);
    }
    postMessage(message: unknown) {
      const data = structuredClone(message);
      for (const other of open)
        if (other !== this && other.name === this.name) {
          if (late && other === first) late.push(data);
          else queueMicrotask(() => open.has(other) && other.onmessage?.({ data }));
        }
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
  return {
    freeze() {
      late = [];
    },
    async thaw() {
      const messages = late ?? [];
      late = undefined;
      for (const data of messages) {
        first?.onmessage?.({ data });
        await vi.advanceTimersByTimeAsync(0);
      }
    },
  };
};
