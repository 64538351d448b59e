/** `EventTarget`, as far as clew uses it: listeners with `signal`, `once` and `capture`. */
export interface Events {
  addEventListener(type: string, listener: Listener, options?: ListenerOptions | boolean): void;
  removeEventListener(type: string, listener: Listener): void;
  dispatch(type: string, event?: object): void;
}

type Listener = (event: object) => void;
interface ListenerOptions {
  once?: boolean;
  capture?: boolean;
  signal?: { aborted: boolean };
}

/** @param guard runs a listener, and reports an exception as an error of the page */
export const createEvents = (guard: (run: () => void) => void): Events => {
  const listeners: { type: string; listener: Listener; options: ListenerOptions }[] = [];
  const removeEventListener = (type: string, listener: Listener) => {
    const index = listeners.findIndex((entry) => entry.type === type && entry.listener === listener);
    if (index >= 0) listeners.splice(index, 1);
  };
  return {
    addEventListener(type, listener, given) {
      const options = typeof given === 'object' ? given : { capture: !!given };
      const isSame = (entry: (typeof listeners)[number]) =>
        entry.type === type &&
        entry.listener === listener &&
        !entry.options.capture === !options.capture &&
        !entry.options.signal?.aborted;
      if (!listeners.some(isSame)) listeners.push({ type, listener, options });
    },
    removeEventListener,
    dispatch(type, event = {}) {
      const due = listeners.filter((entry) => entry.type === type);
      due.sort((a, b) => Number(!!b.options.capture) - Number(!!a.options.capture));
      for (const { listener, options } of due) {
        if (options.signal?.aborted) continue;
        if (options.once) removeEventListener(type, listener);
        guard(() => listener({ type, ...event }));
      }
    },
  };
};
