import { checkOptions, normaliseOptions, type TrackerOptions } from './api/options.js';
import { silentTracker } from './api/silent.js';
import type { AnyEvents, EventMap, Tracker } from './api/types.js';
import { stepsOf } from './recorder/prepare.js';
import { startTracker } from './tracker.js';

export type { DropReason, Listen, Signals, Trace } from './api/signals.js';
export type { EventName, Plugin, PluginStorage, PluginTools, Stats } from './api/types.js';
export type { Link } from './courier/lease.js';
export type { MakeRenewal, Renewal } from './courier/renewal.js';
export { type Answer, fetchTransport, type Transport, type TransportRequest } from './courier/transport.js';
export type { Entry, Row, RowKey, RowQuery, Store } from './outbox/store.js';
export { type ClickOptions, clicks } from './page/clicks.js';
export { type BrowserContext, browserContext, type PageContext } from './page/context.js';
export { type FirstTouchOptions, firstTouch } from './page/firstTouch.js';
export { type PageViewOptions, pageViews } from './page/navigation.js';
export { checkEvents, type StandardSchema } from './recorder/checkEvents.js';
export type { ItemText } from './recorder/event.js';
export type { BeforeSend, SeenEvent, TrackedEvent } from './recorder/prepare.js';
export { redactUrls } from './recorder/redactUrls.js';
export { cookieDomain, type SharedVisitor } from './visitor/cookieDomain.js';
export { type LinkDomains, linkDomains } from './visitor/linkDomains.js';
export type { Identity, Visitor } from './visitor/record.js';
export type { HandoverState, Properties, WireEvent } from './wire.js';
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
