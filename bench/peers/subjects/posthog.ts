import posthog from 'posthog-js/dist/module.slim.js';

posthog.init('phc_key', {
  api_host: location.origin,
  autocapture: false,
  capture_pageview: false,
  capture_pageleave: false,
  capture_performance: false,
  capture_heatmaps: false,
  capture_dead_clicks: false,
  capture_exceptions: false,
  advanced_disable_flags: true,
  disable_session_recording: true,
  disable_surveys: true,
  disable_product_tours: true,
  disable_conversations: true,
  disable_external_dependency_loading: true,
  rate_limiting: { events_per_second: 1e6, events_burst_limit: 1e6 },
});
window.track = (event, payload) => posthog.capture(event, { ...payload });
