import { afterEach, onTestFinished, vi } from 'vitest';
import type { AnyEvents, DropReason, EventMap, TrackerOptions } from '../../src/index.ts';
import { createTestTracker } from '../../src/testing.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** A test tracker that stops when the test ends, and what it reports. */
export const start = <Events extends EventMap = AnyEvents>(options?: Partial<TrackerOptions>) => {
  const test = createTestTracker<Events>(options);
  const { tracker, events } = test;
  const errors: string[] = [];
  const dropped: [name: string | undefined, reason: DropReason][] = [];
  const delivered: string[] = [];
  tracker.on('error', ({ message }) => errors.push(message));
  tracker.on('dropped', (drop) => {
    for (const { event } of drop.events) dropped.push([event, drop.reason]);
  });
  tracker.on('delivered', (confirmed) => {
    for (const { event } of confirmed.events) delivered.push(event);
  });
  onTestFinished(tracker.stop);
  /** Names of the events that have arrived. */
  const names = () => events().map(({ event }) => event);
  return { ...test, errors, dropped, delivered, names };
};

/** Lets all due work finish; no time passes. The file has to use fake timers. */
export const settle = () => vi.advanceTimersByTimeAsync(0);

/** What a test sees of the page that it opens. */
export interface Page {
  readonly document: EventTarget & { cookie: string; hidden: boolean; prerendering: boolean };
  readonly navigator: { onLine: boolean };
  /** The page is unloaded, or goes into the back/forward cache. */
  leave(): void;
  /** The page comes back from the back/forward cache. */
  restore(): void;
  /** The visitor looks away from the page, or back at it. */
  show(isShown: boolean): void;
  /** The network is back. */
  reconnect(): void;
}

/** localStorage as all pages of a test share it. */
const storage = (): Record<string, string> => {
  const { localStorage } = globalThis as { localStorage?: Record<string, string> };
  if (localStorage) return localStorage;
  const shared = {};
  vi.stubGlobal('localStorage', shared);
  return shared;
};

/**
 * Gives the trackers that start next a page of their own: its events, document and network. The pages of one test share
 * localStorage.
 */
export const openPage = (): Page => {
  const target = new EventTarget();
  const document = Object.assign(new EventTarget(), {
    cookie: '',
    hidden: false,
    prerendering: false,
    title: 'Yarns',
    referrer: '',
  });
  const navigator = { onLine: true };
  const fire = (type: string, more = {}) => target.dispatchEvent(Object.assign(new Event(type), more));
  for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'] as const)
    vi.stubGlobal(name, target[name].bind(target));
  vi.stubGlobal('document', document);
  vi.stubGlobal('navigator', navigator);
  storage();
  return {
    document,
    navigator,
    leave: () => void fire('pagehide'),
    restore: () => void fire('pageshow', { persisted: true }),
    show(isShown) {
      document.hidden = !isShown;
      fire('visibilitychange');
    },
    reconnect: () => void fire('online'),
  };
};

/** A compressor that holds back its first chunk until the returned function is called. */
export const holdCompression = (): (() => void) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const Real = CompressionStream;
  vi.stubGlobal(
    'CompressionStream',
    class {
      readonly readable: ReadableStream;
      readonly writable: WritableStream;
      constructor(format: CompressionFormat) {
        const gate = new TransformStream({
          async transform(chunk, controller) {
            await held;
            controller.enqueue(chunk);
          },
        });
        this.writable = gate.writable;
        this.readable = gate.readable.pipeThrough(new Real(format));
      }
    },
  );
  return release;
};
