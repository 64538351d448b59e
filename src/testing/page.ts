import { checkOptions, normaliseOptions, type TrackerOptions } from '../api/options.js';
import type { Tracker } from '../api/types.js';
import type { Transport } from '../courier/transport.js';
import type { Store } from '../outbox/store.js';
import { stepsOf } from '../recorder/prepare.js';
import { startTracker } from '../tracker.js';

/** A page of the rehearsal: a tracker on a store that outlives it. */
export interface Page {
  readonly tracker: Tracker;
  /** Hands over unsent events, as when the page unloads. */
  leave(): void;
  /** Ends the page, so that it writes and sends nothing more. */
  crash(): void;
}

/** Without a browser, `navigator.onLine` is missing, and a page that leaves would hand over nothing. */
const whileOnline = (run: () => void): void => {
  if (globalThis.navigator?.onLine) {
    run();
    return;
  }
  const had = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { onLine: true } });
  try {
    run();
  } finally {
    if (had) Object.defineProperty(globalThis, 'navigator', had);
    else Reflect.deleteProperty(globalThis, 'navigator');
  }
};

/** The same store until the page has crashed. Then nothing of the page reaches it. */
const createPageStore = (store: Store): { readonly own: Store; cut(): void } => {
  let isCut = false;
  const never = new Promise<undefined>(() => {});
  const local = new Proxy(store.local as Record<string, string>, {
    set: (target, key, value) => isCut || Reflect.set(target, key, value),
    deleteProperty: (target, key) => isCut || Reflect.deleteProperty(target, key),
  });
  const own: Store = {
    ...store,
    local,
    transact: (...given) => (isCut ? never : (store.transact as (...args: unknown[]) => Promise<never>)(...given)),
    read: (...given) => (isCut ? never.then(() => []) : store.read(...given)),
    clear: (...given) => {
      if (!isCut) store.clear(...given);
    },
  };
  return {
    own,
    cut() {
      isCut = true;
    },
  };
};

/** Opens a page with this transport on the store. */
export const openPage = (store: Store, transport: Transport, options: TrackerOptions): Page => {
  const { own, cut } = createPageStore(store);
  let isOver = false;
  const all = {
    ...options,
    store: own,
    transport: (request) => !isOver && transport(request),
  } satisfies TrackerOptions;
  checkOptions(all);
  const settings = normaliseOptions(all);
  const tracker = startTracker(settings, stepsOf(settings));
  return {
    tracker,
    leave: () => whileOnline(tracker.stop),
    crash() {
      isOver = true;
      cut();
      // Ends its timers. Nothing that it writes or sends arrives.
      tracker.stop();
    },
  };
};
