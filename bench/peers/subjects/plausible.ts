import { init, track } from '@plausible-analytics/tracker';

init({
  domain: 'bench.example',
  endpoint: '/api/event',
  autoCapturePageviews: false,
  captureOnLocalhost: true,
});
// Plausible accepts only text as the value of a property.
window.track = (event, { step, plan }) => track(event, { props: { step: `${step}`, plan } });
