import { isLoaded } from '../../browser/page.ts';
import { giveUp, thaw } from '../hidden.ts';
import { forgetCrashed } from '../losses.ts';
import type { Stage, Tab, VerbsOf } from '../stage.ts';
import { leave, MOST_TABS, tabAt, track } from '../visitor.ts';

/** Actions of a browser on pages that the visitor does not see. */
export type PagesAction =
  | {
      readonly verb: 'freeze' | 'thaw' | 'discard' | 'activate' | 'cancelPrerender' | 'duplicate';
      readonly tab: number;
    }
  /** The page has a long task, unless the visitor does something else in this tab before. */
  | { readonly verb: 'stall'; readonly tab: number; readonly ms: number }
  /** The page tracks `count` events before it is seen. */
  | { readonly verb: 'prerender'; readonly tab: number; readonly count: number };

/** Time (ms) from hiding a page until the browser freezes it. Chromium waits for minutes. */
const FREEZING = 500;

/** The tab with this number as it is, also if its page is frozen. */
const tabOf = ({ tabs }: Stage, index: number): Tab | undefined => tabs[index % Math.max(tabs.length, 1)];

export const pagesVerbs: VerbsOf<PagesAction> = {
  freeze(stage, { tab }) {
    const { page } = tabAt(stage, tab);
    if (!page) return;
    stage.browser.show(page, false);
    // The page finishes its work for `visibilitychange` before the browser freezes it.
    stage.world.scheduler.after(FREEZING, 'browser freezes', () => {
      if (stage.browser.freeze(page)) stage.history.freeze(page.name, true);
    });
  },
  stall(stage, { tab, ms }) {
    const mine = tabAt(stage, tab);
    const { page } = mine;
    if (!page || !stage.browser.stall(page)) return;
    stage.history.freeze(page.name, true);
    // The tab may have another page by then.
    stage.world.scheduler.after(ms, 'long task ends', () => {
      if (page.isStalled) thaw(stage, { ...mine, page });
    });
  },
  thaw: (stage, { tab }) => thaw(stage, tabOf(stage, tab)),
  discard(stage, { tab }) {
    const page = tabOf(stage, tab)?.page;
    if (!page?.isFrozen || page.isStalled) return;
    stage.history.depart({ page: page.name, kind: 'crashes', isLoaded: isLoaded(page) });
    stage.browser.crash(page);
    forgetCrashed(stage, page);
  },
  prerender(stage, { tab, count }) {
    const mine = tabAt(stage, tab);
    giveUp(stage, mine);
    const page = stage.load(mine, true);
    if (count) track(stage, page, count);
  },
  activate(stage, { tab }) {
    const mine = tabOf(stage, tab);
    const page = mine?.prerendered;
    if (!mine || page?.state !== 'running') return;
    thaw(stage, mine);
    mine.prerendered = undefined;
    leave(stage, mine, false, () => {
      if (page.state !== 'running') return;
      mine.page = page;
      stage.history.load(page.name);
      stage.history.stir();
      stage.ledger.reconsider(page.name);
      stage.browser.activate(page);
    });
  },
  cancelPrerender: (stage, { tab }) => giveUp(stage, tabOf(stage, tab)),
  duplicate(stage, { tab }) {
    const { sessionStorage } = tabAt(stage, tab);
    if (stage.tabs.length >= MOST_TABS) return;
    const copy: Tab = { page: undefined, cached: [], sessionStorage: new Map(sessionStorage) };
    stage.tabs.push(copy);
    stage.load(copy);
  },
};

/** Thaws the frozen pages, and gives up the prerendered ones. */
export const recoverPages = (stage: Stage): void => {
  for (const tab of stage.tabs) {
    thaw(stage, tab);
    giveUp(stage, tab);
  }
};
