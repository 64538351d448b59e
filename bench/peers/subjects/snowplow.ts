import { newTracker, trackSelfDescribingEvent } from '@snowplow/browser-tracker';

newTracker('sp', location.origin, { appId: 'bench', bufferSize: 50 });
window.track = (event, payload) =>
  trackSelfDescribingEvent({ event: { schema: `iglu:bench/${event}/jsonschema/1-0-0`, data: { ...payload } } });
