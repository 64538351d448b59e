import type { EngineName } from '../../e2e/faults/engines/engine.ts';

/** A tab of a browser, real or simulated. */
export interface FactTab {
  /** Runs `fn` in the page. `fn` uses no variable from outside. The argument and the result are JSON. */
  evaluate<R, A = undefined>(fn: (arg: A) => R | Promise<R>, arg?: A): Promise<R>;
  /** Navigates to another page of the same origin. */
  navigate(): Promise<void>;
}

/** A server that answers no request. */
export interface Holder {
  /** The beginning of the server's addresses. Each request appends a path of its own. */
  readonly address: string;
  /** Resolves when the request to this path has arrived. */
  arrived(path: string): Promise<void>;
  /** Whether the browser soon gives that request up. */
  isGivenUp(path: string): Promise<boolean>;
}

export interface FactBrowser {
  readonly holder: Holder;
  /** A tab with an empty page that loads nothing. All tabs are of one origin. */
  open(): Promise<FactTab>;
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
}
