// @ts-check
import { drawWhenChanged } from './cell.js';
import { showCrowd } from './crowd.js';
import { byId, onClick } from './dom.js';
import { showFaults } from './faults.js';
import { finish, showGuide } from './guide.js';
import { showJourneys } from './journeys-panel.js';
import { showLab } from './lab.js';
import { isLive, watchService } from './service.js';
import { showService } from './service-panel.js';
import { showSettings } from './settings.js';
import { openSite } from './site.js';
import { showStory } from './story-panel.js';
import { followVisit, visit } from './visit.js';

/** Docked below the shop. */
const dockInspector = async () => {
  // No path that the type checker should look for: it is built.
  const inspector = '/dist/inspector.js';
  await import(inspector);
  const element = /** @type {HTMLElement & { tracker: unknown }} */ (document.createElement('clew-inspector'));
  element.tracker = visit;
  byId('inspector').prepend(element);
};

followVisit();
showStory();
showGuide();
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
onClick('another', () => finish('crowd'));
onClick('open-inspector', dockInspector);
// The inspector first, so that it sees the first page from its beginning.
dockInspector()
  .catch(() => {})
  .finally(openSite);
