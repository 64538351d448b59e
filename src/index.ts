export type { PageContext } from './page/context.js';
export type { ItemText } from './pipeline/event.js';
export type { Row, RowKey, Store } from './pipeline/store.js';
export { type Answer, fetchTransport, type Transport, type TransportRequest } from './pipeline/transport.js';
export type { TrackerOptions } from './tracker/options.js';
export type { DropReason, Signals } from './tracker/signals.js';
export { createTracker } from './tracker/tracker.js';
export type { AnyEvents, EventMap, EventName, Stats, Tracker } from './tracker/types.js';
export type { WireEvent } from './wire.js';
