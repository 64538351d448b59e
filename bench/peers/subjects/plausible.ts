import { init, track } from '@plausible-analytics/tracker';

init({
  domain: 'bench.example',
  endpoint: '/api/event',
  autoCapturePageviews: false,
  captureOnLocalhost: true,
});
// Its properties are text.
window.track = (event, { step, plan }) => track(event, { props: { step: `${step}`, plan } });
