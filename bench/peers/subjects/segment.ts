import { AnalyticsBrowser } from '@segment/analytics-next';

const analytics = AnalyticsBrowser.load(
  {
    writeKey: 'key',
    // With this option, the library does not request its configuration from the service's CDN.
    cdnSettings: { integrations: { 'Segment.io': { apiKey: 'key' } } },
  },
  {
    integrations: {
      'Segment.io': {
        apiHost: `${location.host}/v1`,
        protocol: 'http',
        deliveryStrategy: { strategy: 'batching' },
      },
    },
  },
);
window.track = (event, payload) => analytics.track(event, { ...payload });
