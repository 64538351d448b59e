import type { Answer } from './transport.js';

/** A request whose result the page does not know yet. */
export interface Flying {
  /** Names the request to the relay. Without a relay it is ''. */
  readonly id: string;
  /** Ids of its events. */
  readonly ids: readonly string[];
  /** When it failed without an answer although the browser keeps it alive, in ms since the epoch. */
  readonly rejectedAt?: number;
}

/**
 * As a page unloads, Chromium rejects its requests, sometimes before `pagehide`, and still sends those that it keeps alive. A request that
 * has failed so shortly (ms) before may be one of them.
 */
const UNLOADING = 100;

/** The page's last request: if the page leaves before its answer, only a later page can get that. */
export const createLastRequest = () => {
  let last: Flying | undefined;
  return {
    /** Notes a request. Returns a function that receives its answer. */
    begin(id: string, ids: readonly string[]) {
      const mine: Flying = { id, ids };
      last = mine;
      return ({ outcome, status }: Answer, isKeptAlive: boolean): void => {
        if (last !== mine) return;
        const isRejected = outcome === 'failed' && status === undefined && isKeptAlive;
        last = isRejected ? { ...mine, rejectedAt: Date.now() } : undefined;
      };
    },
    /**
     * The page leaves. Returns the request that may still arrive, once.
     *
     * @param isUnloading the browser is unloading the page, or puts it into the back/forward cache
     */
    take(isUnloading = false): Flying | undefined {
      const taken = last;
      last = undefined;
      const { rejectedAt } = taken ?? {};
      const isKept =
        rejectedAt === undefined || (isUnloading && navigator.onLine && Date.now() - rejectedAt < UNLOADING);
      return isKept ? taken : undefined;
    },
  };
};

export type LastRequest = ReturnType<typeof createLastRequest>;
