/** `AbortController` and `AbortSignal` in virtual time. */
export interface Signal {
  aborted: boolean;
  reason: unknown;
  addEventListener(type: string, listener: () => void): void;
}

const createSignal = (): [signal: Signal, abort: (reason: unknown) => void] => {
  const listeners: (() => void)[] = [];
  const signal: Signal = {
    aborted: false,
    reason: undefined,
    addEventListener: (_type, listener) => void listeners.push(listener),
  };
  const abort = (reason: unknown) => {
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason;
    for (const listener of listeners) listener();
  };
  return [signal, abort];
};

/** @param after a timer of the page or the relay */
export const createAborting = (after: (delay: number, run: () => void) => void) => ({
  AbortController: class {
    readonly signal: Signal;
    readonly abort: (reason?: unknown) => void;
    constructor() {
      const [signal, abort] = createSignal();
      this.signal = signal;
      this.abort = (reason = new DOMException('aborted', 'AbortError')) => abort(reason);
    }
  },
  AbortSignal: {
    timeout(delay: number): Signal {
      const [signal, abort] = createSignal();
      after(delay, () => abort(new DOMException('timed out', 'TimeoutError')));
      return signal;
    },
  },
});
