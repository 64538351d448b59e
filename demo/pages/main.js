// @ts-check
import { watchBrowser } from './browser.js';
import { showBrowser } from './browser-panel.js';
import { showCalls } from './calls.js';
import { drawWhenChanged } from './cell.js';
import { byId } from './dom.js';
import { showFaults } from './faults.js';
import { showJourneys } from './journeys-panel.js';
import { isLive, watchService } from './service.js';
import { showService } from './service-panel.js';
import { showSettings } from './settings.js';
import { openShop } from './shop.js';
import { isLoaded } from './tracker.js';
import { showWay } from './way.js';

openShop();
showCalls();
showWay();
showFaults();
showBrowser();
showService();
showJourneys();
showSettings();

drawWhenChanged([isLoaded, isLive], () => {
  const state = byId('state');
  state.textContent = isLoaded.get()
    ? isLive.get()
      ? 'live'
      : 'the service does not answer'
    : 'waiting for the bundle';
  state.classList.toggle('is-live', isLoaded.get() && isLive.get());
});

watchBrowser();
watchService();
