import mixpanel from 'mixpanel-browser/src/loaders/loader-module-core.js';

mixpanel.init('key', { api_host: location.origin });
window.track = (event, payload) => mixpanel.track(event, { ...payload });
