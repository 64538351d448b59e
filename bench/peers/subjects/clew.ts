import { createTracker } from '../../../dist/index.js';

const tracker = createTracker({ baseUrl: '/clew' });
window.track = tracker.track;
