import { mayReach } from './consent.ts';
import type { Stage, Tab } from './stage.ts';

/** Pages that the visitor does not see: frozen or prerendered pages. */

/** How long (ms) a page takes to read the messages that were sent while it was frozen. */
const CATCHING_UP = 1000;

/** The visitor looks at a tab that was frozen, or a long task of its page ends. */
export const thaw = (stage: Stage, tab: Tab | undefined): void => {
  const page = tab?.page;
  if (!page?.isFrozen) return;
  const { history, ledger, world } = stage;
  const { isStalled } = page;
  const since = history.freezes.findLast((freeze) => freeze.page === page.name)?.from ?? 0;
  history.freeze(page.name, false);
  history.stir();
  // The page has not read yet who was identified while it was frozen.
  ledger.doubt(world.scheduler.now() - since + CATCHING_UP);
  stage.browser.thaw(page);
  if (!isStalled) stage.browser.show(page, true);
};

/** The browser gives up the tab's prerendered page. The page's events need not arrive, because the visitor has never seen the page. */
export const giveUp = (stage: Stage, tab: Tab | undefined): void => {
  const page = tab?.prerendered;
  if (!tab || !page) return;
  stage.world.log(page.name, () => 'is given up');
  tab.prerendered = undefined;
  for (const event of stage.ledger.tracked.values()) if (event.page === page.name) event.excuse ??= 'never seen';
  stage.browser.crash(page);
};

/** A prerendered page that has sent or stored something. */
export const findPremature = ({ tabs, browser, network, ledger, consent, onDisk }: Stage): string | undefined => {
  if (!tabs.some(({ prerendered }) => prerendered)) return undefined;
  const pages = tabs.flatMap(({ prerendered }) => (prerendered?.document.prerendering ? [prerendered] : []));
  if (!pages[0]) return undefined;
  for (const page of pages) {
    if (network.requests.some(({ from }) => from === page.name)) return `${page.name} sends`;
    const isConnected = [...browser.disk.connections].some((connection) => connection.page === page);
    // A refusal erases what is stored, whichever page gets it.
    const isErasing = consent.answers.some((answer) => !answer.isGranted && mayReach(answer, page.name));
    if ((isConnected || browser.disk.isUsedBy(page)) && !isErasing) return `${page.name} opens the database`;
    const tracked = [...ledger.tracked.values()].filter((event) => event.page === page.name);
    const stored = tracked[0] && onDisk();
    const own = tracked.find(({ n }) => stored?.has(n));
    if (own) return `${page.name} stores event ${own.n}`;
  }
  return undefined;
};
