import { createLane } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';
import type { Browser } from './browser.ts';

/** How long (ms) it takes at most until the other tabs see a write. In Chromium each process has a copy of localStorage. */
export const MOST_LAG = 8;

/** localStorage as one tab sees it: its own writes at once, and those of other tabs a moment later. */
export class TabStorage extends Map<string, string> {
  /** The number of the last write of each key that this tab has seen. */
  readonly #seen = new Map<string, number>();
  readonly #lane = createLane();
  readonly #world: World;
  readonly #browser: Browser;

  constructor(world: World, browser: Browser) {
    super();
    this.#world = world;
    this.#browser = browser;
    for (const [key, value] of browser.localStorage) super.set(key, value);
    browser.tabs.add(this);
  }

  override set(key: string, value: string): this {
    this.#browser.localStorage.set(key, value);
    this.#write(key, value);
    return this;
  }

  override delete(key: string): boolean {
    this.#browser.localStorage.delete(key);
    const had = this.has(key);
    this.#write(key, undefined);
    return had;
  }

  #write(key: string, value: string | undefined) {
    const number = ++this.#browser.storageWrites;
    this.#see(key, value, number);
    for (const tab of this.#browser.tabs)
      if (tab !== this && tab instanceof TabStorage) tab.#receive(key, value, number);
  }

  #receive(key: string, value: string | undefined, number: number) {
    const { random, scheduler } = this.#world;
    const lag = random.between(0, MOST_LAG);
    scheduler.after(lag, 'localStorage of another tab', () => this.#see(key, value, number), { lane: this.#lane });
  }

  #see(key: string, value: string | undefined, number: number) {
    if ((this.#seen.get(key) ?? 0) > number) return;
    this.#seen.set(key, number);
    if (value === undefined) super.delete(key);
    else super.set(key, value);
  }
}
