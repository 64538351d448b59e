import { RudderAnalytics } from '@rudderstack/analytics-js/lite';

const analytics = new RudderAnalytics();
analytics.load('key', location.origin, {
  // With this option, the library does not request its configuration from the service's control plane.
  getSourceConfig: () => ({
    source: {
      id: 'source',
      name: 'bench',
      writeKey: 'key',
      workspaceId: 'workspace',
      enabled: true,
      destinations: [],
      connections: [],
      config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
    },
  }),
  loadIntegration: false,
  queueOptions: { batch: { enabled: true } },
});
window.track = (event, payload) => analytics.track(event, { ...payload });
