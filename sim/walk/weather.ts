import { MOST_STORED } from '../browser/browser.ts';
import { FAIR } from '../server/network.ts';
import type { Stage } from './stage.ts';

/** Enters into the history whether the network and the disk now work as they should. */
export const noteWeather = ({ history, network, inner, service, app, browser, holders, world, plan }: Stage): void => {
  const isServed = service.mood.status === undefined && app.transport === 'passes';
  history.network(network.conditions === FAIR && inner.conditions === FAIR && isServed && browser.isOnline);
  const { speed, isFull, hangsUntil } = browser.disk;
  const hasRoom = browser.storageLimits.most >= MOST_STORED;
  history.journal(hasRoom);
  // Without Web Locks, a page that enters the back/forward cache while its database opens shuts the database for all pages.
  const isShut =
    !plan.features.hasLocks &&
    [...browser.pages].some(({ state, storedAt }) => state === 'suspended' && storedAt === undefined);
  const isHeld = holders.size > 0 || hangsUntil > world.scheduler.now();
  history.disk(!isHeld && !isShut && speed[1] <= 1 && !isFull && hasRoom);
};

/** Another page of the site blocks the database with a transaction for `ms`. */
export const holdDatabase = (stage: Stage, ms: number): void => {
  const { browser, world, holders } = stage;
  const page = browser.open({ dataset: {}, sessionStorage: new Map() });
  world.log(page.name, () => `holds the database for ${ms} ms`);
  holders.add(page.name);
  browser.disk.begin({
    page,
    state: 'open',
    requests: [],
    isBusy: false,
    unseen: 0,
    undo: [],
    written: [],
    complete: () => {},
    abort: () => {},
  });
  world.scheduler.after(ms, 'holder ends', () => {
    browser.crash(page);
    holders.delete(page.name);
    noteWeather(stage);
  });
};
