import { vi } from 'vitest';
import type { AnyEvents, DropReason, EventMap, Store, TrackerOptions } from '../../src/index.ts';
import { createTestTracker, createMemoryStore as createWholeStore } from '../../src/testing.ts';
import { cookies, cookiesWritten, stops, storages } from '../support/pageState.ts';

export { cookiesWritten } from '../support/pageState.ts';
export { connectTabs, type Receiver } from '../support/tabs.ts';

/** A store in memory in place of IndexedDB only: the pages of a test have a localStorage. */
export const createMemoryStore = (): Store => ({ ...createWholeStore(), local: undefined });

/** The store, whose transactions begin so many ms later. */
export const slowed = (store: Store, ms: number): Store => {
  const transact: Store['transact'] = async (...what) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return store.transact(...what);
  };
  return { ...store, transact };
};

/** The site deletes its localStorage. */
export const clearLocal = () => {
  for (const key of Object.keys(localStorage)) delete localStorage[key];
};

/** A test tracker that stops when the test ends, with its reports. */
export const start = <Events extends EventMap = AnyEvents>(options?: Partial<TrackerOptions>) => {
  const test = createTestTracker<Events>({ store: createMemoryStore(), ...options });
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
  stops.push(tracker.stop);
  /** Names of the events that have arrived. */
  const names = () => events().map(({ event }) => event);
  return { ...test, errors, dropped, delivered, names };
};

/** Lets all due work finish while no time passes. The file has to use fake timers. */
export const settle = () => vi.advanceTimersByTimeAsync(0);

/** A page that a test has opened. */
export interface Page {
  /** The target of the page's events. */
  readonly window: EventTarget;
  readonly document: EventTarget & { cookie: string; hidden: boolean; prerendering: boolean };
  readonly navigator: { onLine: boolean };
  /** The parts of `location` that clew uses. A test sets `href` to navigate without an event. */
  readonly location: URL;
  /** The page is unloaded, or goes into the back/forward cache. */
  leave(): void;
  /** The page comes back from the back/forward cache. */
  restore(): void;
  /** The visitor looks away from the page, or back at it. */
  show(isShown: boolean): void;
  /** The network is back. */
  reconnect(): void;
  /** Dispatches an event on `window`, with these properties. */
  fire(type: string, properties?: object): Event;
}

const isWithin = (host: string, domain: string) => `.${host}`.endsWith(`.${domain}`);

const jarOf = ({ hostname }: URL) => ({
  get: () =>
    [...cookies.values()]
      .filter(({ domain }) => isWithin(hostname, domain))
      .map(({ text }) => text)
      .join('; '),
  set(written: string) {
    cookiesWritten.push(written);
    const [text = '', ...attributes] = written.split('; ');
    const [name = ''] = text.split('=');
    const domain = attributes.find((one) => one.startsWith('Domain='))?.slice('Domain='.length) || hostname;
    if (!isWithin(hostname, domain) || !domain.includes('.')) return;
    if (attributes.includes('Max-Age=0')) cookies.delete(`${domain} ${name}`);
    else cookies.set(`${domain} ${name}`, { domain, name, text });
  },
});

/**
 * Gives the trackers that start next a page of their own: its address, events, document and network. The pages of one
 * test share the cookies of a domain, and those of one host its localStorage.
 */
export const openPage = (url = 'https://www.shop.example/yarns', referrer = ''): Page => {
  const target = new EventTarget();
  const location = new URL(url);
  const jar = jarOf(location);
  const document = Object.assign(new EventTarget(), {
    cookie: '',
    hidden: false,
    prerendering: false,
    title: 'Yarns',
    referrer,
  });
  Object.defineProperty(document, 'cookie', jar);
  const navigator = { onLine: true };
  const fire = (type: string, properties = {}) => {
    const event = Object.assign(new Event(type, { cancelable: true }), properties);
    target.dispatchEvent(event);
    return event;
  };
  for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'] as const)
    vi.stubGlobal(name, target[name].bind(target));
  const storage = storages.get(location.host) ?? {};
  storages.set(location.host, storage);
  const go = (_state: unknown, _title: string, to?: string) => {
    location.href = new URL(to ?? location.href, location).href;
  };
  vi.stubGlobal('document', document);
  vi.stubGlobal('navigator', navigator);
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('location', location);
  vi.stubGlobal('history', { state: { of: 'the router' }, pushState: vi.fn(go), replaceState: vi.fn(go) });
  return {
    window: target,
    document,
    navigator,
    location,
    leave: () => void fire('pagehide'),
    restore: () => void fire('pageshow', { persisted: true }),
    show(isShown) {
      document.hidden = !isShown;
      fire('visibilitychange');
    },
    reconnect: () => void fire('online'),
    fire,
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
