/** `AbortController` and `AbortSignal` in virtual time. */
export interface Signal {
  aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void): void;
}

/**
 * @returns a signal and the function that aborts it. The signal makes its reason when it is read, because a DOMException
 * records a stack, which takes long.
 */
const createSignal = (): [signal: Signal, abort: (makeReason: () => unknown) => void] => {
  const listeners: (() => void)[] = [];
  let makeReason: (() => unknown) | undefined;
  let reason: unknown;
  const signal: Signal = {
    aborted: false,
    get reason() {
      reason ??= makeReason?.();
      return reason;
    },
    addEventListener: (_type, listener) => void listeners.push(listener),
  };
  const abort = (make: () => unknown) => {
    if (signal.aborted) return;
    signal.aborted = true;
    makeReason = make;
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
      this.abort = (reason) => abort(() => reason ?? new DOMException('aborted', 'AbortError'));
    }
  },
  AbortSignal: {
    timeout(delay: number): Signal {
      const [signal, abort] = createSignal();
      after(delay, () => abort(() => new DOMException('timed out', 'TimeoutError')));
      return signal;
    },
  },
});
