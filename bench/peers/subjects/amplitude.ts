import { init, track } from '@amplitude/analytics-browser';

init('key', {
  serverUrl: `${location.origin}/2/httpapi`,
  autocapture: false,
  remoteConfig: { fetchRemoteConfig: false },
  enableDiagnostics: false,
});
window.track = (event, payload) => track(event, { ...payload });
