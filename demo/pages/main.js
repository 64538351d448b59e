// @ts-check
import { drawWhenChanged } from './cell.js';
import { showCrowd } from './crowd.js';
import { byId, onClick } from './dom.js';
import { showFaults } from './faults.js';
import { finish, showGuide } from './guide.js';
import { showJourneys } from './journeys-panel.js';
import { showLab } from './lab.js';
import { showOutage } from './outage-panel.js';
import { showPath } from './path-panel.js';
import { arrived, isLive, watchService } from './service.js';
import { showService } from './service-panel.js';
import { showSettings } from './settings.js';
import { showSides } from './sides.js';
import { openSite } from './site.js';
import { followVisit, visit } from './visit.js';

/** Docks the inspector below the shop. */
const dockInspector = async () => {
  // A variable, because the type checker would look for a file that only the build creates.
  const inspector = '/dist/inspector.js';
  await import(inspector);
  const element = /** @type {HTMLElement & { tracker: unknown }} */ (document.createElement('clew-inspector'));
  element.tracker = visit;
  byId('inspector').prepend(element);
};

followVisit();
showOutage();
showPath();
showGuide();
showLab();
showFaults();
showService();
showJourneys();
showSettings();
showCrowd();
showSides();
drawWhenChanged([isLive, arrived], () => {
  const isFailing = (arrived.get()?.fault.mode ?? 'none') !== 'none';
  const answering = isFailing ? 'service fails' : 'service answers';
  const text = isLive.get() ? answering : 'no connection to the demo';
  if (byId('state').textContent !== text) byId('state').textContent = text;
  byId('state').classList.toggle('is-live', isLive.get() && !isFailing);
});

watchService();
onClick('another', () => finish('crowd'));
onClick('open-inspector', dockInspector);
// The inspector first, so that it sees the first page from its beginning. A phone has no room for it.
const docked = matchMedia('(min-width: 64rem)').matches ? dockInspector() : Promise.resolve();
docked.catch(() => {}).finally(openSite);
