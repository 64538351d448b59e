// @ts-check
import { drawWhenChanged } from './cell.js';
import { showCrowd } from './crowd.js';
import { byId } from './dom.js';
import { showFaults } from './faults.js';
import { showJourneys } from './journeys-panel.js';
import { showLab } from './lab.js';
import { isLive, watchService } from './service.js';
import { showService } from './service-panel.js';
import { showSettings } from './settings.js';
import { clew, openSite, page } from './site.js';
import { showStory } from './story-panel.js';

/** Docked below the shop, and told of each of its pages. */
const dockInspector = async () => {
  // No path that the type checker should look for: it is built.
  const inspector = '/dist/inspector.js';
  await import(inspector);
  const element = /** @type {HTMLElement & { tracker: unknown }} */ (document.createElement('clew-inspector'));
  // A function of its own for each page: what is another tracker has to be another value.
  const show = () => {
    element.tracker = (/** @type {unknown[]} */ ...call) => clew(...call);
  };
  page.watch(show);
  if (page.get()) show();
  byId('inspector').replaceChildren(element);
};

showStory();
showLab();
showFaults();
showService();
showJourneys();
showSettings();
showCrowd();
drawWhenChanged([isLive], () => {
  byId('state').textContent = isLive.get() ? 'live' : 'the service does not answer';
  byId('state').classList.toggle('is-live', isLive.get());
});

watchService();
// The inspector first, so that it sees the first page from its beginning.
dockInspector()
  .catch(() => {})
  .finally(openSite);
