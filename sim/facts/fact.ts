import type { EngineName } from '../../e2e/faults/engines/engine.ts';

/** A tab of a browser, real or simulated. */
export interface FactTab {
  /** Runs `fn` in the page. `fn` uses no variable from outside. The argument and the result are JSON. */
  evaluate<R, A = undefined>(fn: (arg: A) => R | Promise<R>, arg?: A): Promise<R>;
  /** Navigates to another page of the same origin. The page before ends. */
  navigate(): Promise<void>;
  /** Navigates like `navigate`, but the browser may keep the page before in its back/forward cache. */
  leave(): Promise<void>;
  /** Goes back from the page that `leave` has navigated to. */
  back(): Promise<void>;
  /** Ends the page's process. The tab is of no more use. */
  crash(): Promise<void>;
  /** Hides the page and suspends it in its tab. */
  freeze(): Promise<void>;
  /** The page runs again. */
  thaw(): Promise<void>;
}

/** A server that answers no request until `answer` is called. */
export interface Holder {
  /** The beginning of the server's addresses. Each request appends a path of its own. */
  readonly address: string;
  /** Resolves when the request to this path has arrived. */
  arrived(path: string): Promise<void>;
  /** Whether the request to this path has arrived by now. */
  hasArrived(path: string): boolean;
  /** Whether the browser still waits for the answer to that request. */
  isAwaited(path: string): boolean;
  /** Answers the request to this path, which has arrived. */
  answer(path: string): void;
  /** Whether the browser soon gives that request up. */
  isGivenUp(path: string): Promise<boolean>;
}

export interface FactBrowser {
  readonly holder: Holder;
  /** A tab with an empty page that loads nothing. All tabs are of one origin. */
  open(): Promise<FactTab>;
  /** Runs `fn` in a page that the browser prerenders, then navigates to that page. Resolves to the value that `fn` resolves to. */
  prerender(fn: () => Promise<unknown>): Promise<unknown>;
}

/** Something that the simulator assumes of browsers. */
export interface Fact {
  readonly name: string;
  /**
   * Plays the fact and returns the observed outcome, as JSON.
   *
   * @param id names databases and keys of this play
   */
  play(browser: FactBrowser, id: string): Promise<unknown>;
  /** The outcome in the simulator, and in each engine that `differences` does not name. */
  readonly outcome: unknown;
  /** The outcomes of engines that differ. The simulator behaves like Chromium. */
  readonly differences?: Partial<Record<EngineName, unknown>>;
  /** Engines in which the fact cannot be shown, and why. */
  readonly cannot?: Partial<Record<EngineName, string>>;
}

/** The reasons of facts about what only Chromium or its driver has. */
export const onlyChromium = (reason: string): NonNullable<Fact['cannot']> => ({ firefox: reason, webkit: reason });
