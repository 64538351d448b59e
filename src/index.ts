import { checkOptions, normaliseOptions, type TrackerOptions } from './tracker/options.js';
import { stepsOf } from './tracker/prepare.js';
import { silentTracker } from './tracker/silent.js';
import { startTracker } from './tracker/tracker.js';
import type { AnyEvents, EventMap, Tracker } from './tracker/types.js';

export { type ClickOptions, clicks } from './page/clicks.js';
export { type BrowserContext, browserContext, type PageContext } from './page/context.js';
export { type PageViewOptions, pageViews } from './page/navigation.js';
export type { ItemText } from './pipeline/event.js';
export type { Link } from './pipeline/link.js';
export type { Entry, ReadRows, Row, RowKey, Store } from './pipeline/store.js';
export { type Answer, fetchTransport, type Transport, type TransportRequest } from './pipeline/transport.js';
export { checkEvents, type StandardSchema } from './tracker/checkEvents.js';
export { cookieDomain, type SharedVisitor } from './tracker/cookieDomain.js';
export { type LinkDomains, linkDomains } from './tracker/linkDomains.js';
export type { BeforeSend, TrackedEvent } from './tracker/prepare.js';
export { redactUrls } from './tracker/redactUrls.js';
export type { DropReason, Listen, Signals, Trace } from './tracker/signals.js';
export type { EventName, Plugin, Stats } from './tracker/types.js';
export type { Visitor } from './tracker/visitor.js';
export type { WireEvent } from './wire.js';
export type { AnyEvents, EventMap, Tracker, TrackerOptions };

/**
 * Creates a tracker. On a server, where there is no `window`, the tracker does nothing.
 *
 * @throws TypeError for an invalid option, with the expected and the given value
 * @example
 * const tracker = createTracker({ baseUrl: '/clew' });
 * const onSignUp = () => tracker.track('signup', { plan: 'pro' });
 */
export const createTracker = <Events extends EventMap = AnyEvents>(options: TrackerOptions): Tracker<Events> => {
  checkOptions(options);
  const settings = normaliseOptions(options);
  return typeof window === 'undefined' ? silentTracker : startTracker(settings, stepsOf(settings));
};
