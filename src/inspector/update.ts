import type { DropReason, Signals, Trace } from '../api/signals.js';
import type { Stats } from '../api/types.js';
import { IDENTIFY, UPSERT_PATH, type WireEvent } from '../wire.js';
import { bare } from './bare.js';
import type { Model, SeenEvent } from './model.js';
import { roll } from './rate.js';
import { answer, plan, send } from './requests.js';

/** How many events are kept. */
export const MOST_EVENTS = 1000;
/** How many events are followed without being kept. By default, a tracker queues at most so many. */
const MOST_WAITING = 20_000;
const MOST_ERRORS = 50;

const see = (model: Model, uuid: string): SeenEvent => {
  const { events } = model;
  let event = events.get(uuid);
  if (event) return event;
  event = bare<SeenEvent>({ uuid, requests: [] });
  events.set(uuid, event);
  for (const [oldest] of events) {
    if (events.size <= MOST_EVENTS) break;
    events.delete(oldest);
    model.forgotten++;
  }
  return event;
};

/** Notes the fields of an event. */
const learn = (seen: SeenEvent, { event, payload, timestamp, correlationValue }: Partial<WireEvent>): void => {
  seen.name = event ?? seen.name;
  seen.payload = payload ?? seen.payload;
  seen.visitorId = correlationValue ?? seen.visitorId;
  const at = Date.parse(timestamp ?? '');
  if (at) seen.trackedAt = at;
};

const updateTracked = (model: Model, at: number, event: Partial<WireEvent>): void => {
  const { stats, waiting } = model;
  const seen = see(model, event.uuid ?? '');
  seen.isTracked = true;
  seen.trackedAt = at;
  learn(seen, event);
  stats.tracked++;
  stats.queued++;
  if (waiting.size < MOST_WAITING) waiting.set(seen.uuid, { name: seen.name ?? '', isStored: false });
  const second = roll(model.seconds, at, stats.queued);
  second.tracked++;
  second.queued = stats.queued;
};

const updateStored = (model: Model, at: number, uuids: readonly string[]): void => {
  for (const uuid of uuids) {
    const held = model.waiting.get(uuid);
    if (held) held.isStored = true;
    // An event that the model has forgotten does not come back. An unknown event is new.
    if (held && !model.events.has(uuid)) continue;
    see(model, uuid).storedAt ??= at;
  }
};

const updateSent = (model: Model, at: number, trace: Extract<Trace, { step: 'sent' }>): void => {
  const { uuids, path, bytes, gzip, leaving } = trace;
  const isKnown = (uuid: string) => model.events.has(uuid) || model.waiting.has(uuid);
  const strangers = uuids.filter((uuid) => !isKnown(uuid)).length;
  const { number } = send(model.requests, uuids, { sentAt: at, path, strangers, bytes, gzip, leaving });
  for (const uuid of uuids) {
    const event = model.events.get(uuid);
    model.refusedUpserts.delete(uuid);
    if (!event) continue;
    event.sentAt = at;
    event.requests.push(number);
    // Only the path shows that the item is no event.
    if (path === UPSERT_PATH) event.name = 'setProperties';
  }
};

const updateAnswered = (model: Model, at: number, trace: Extract<Trace, { step: 'answered' }>): void => {
  const request = answer(model.requests, at, trace.uuids, trace);
  for (const refused of trace.rejected?.filter?.(Boolean) ?? []) {
    const event = model.events.get(refused.uuid);
    if (event) event.why = `${refused.reason ?? ''}`;
  }
  if (trace.outcome === 'rejected') {
    const event = trace.uuids.length === 1 ? model.events.get(trace.uuids[0] ?? '') : undefined;
    if (event) event.why = request?.message;
  }
  if (request?.path === UPSERT_PATH) updateUpsertAnswered(model, at, trace);
};

/** No signal reports the end of an upsert. */
const endUpsert = ({ events }: Model, at: number, uuid: string, end: 'delivered' | 'rejected'): void => {
  const upsert = events.get(uuid);
  if (upsert) Object.assign(upsert, { endedAt: at, end });
};

const updateUpsertAnswered = (model: Model, at: number, trace: Extract<Trace, { step: 'answered' }>): void => {
  const [uuid = ''] = trace.uuids;
  if (trace.outcome === 'delivered') endUpsert(model, at, uuid, trace.rejected?.[0] ? 'rejected' : 'delivered');
  else if (trace.outcome === 'rejected' || trace.status === 500) model.refusedUpserts.add(uuid);
};

/** clew releases the lease only when its queue is empty: upserts that it has not sent again by then are dropped. */
const endRefusedUpserts = (model: Model, at: number, { by, until }: Extract<Trace, { step: 'link' }>): void => {
  if (by) return;
  const isReleased = !until;
  if (isReleased) for (const uuid of model.refusedUpserts) endUpsert(model, at, uuid, 'rejected');
  model.refusedUpserts.clear();
};

const updateTrace = (model: Model, at: number, trace: Trace): void => {
  switch (trace.step) {
    case 'tracked':
      updateTracked(model, at, trace.event);
      break;
    case 'stored':
      updateStored(model, at, trace.uuids);
      break;
    case 'sent':
      updateSent(model, at, trace);
      break;
    case 'answered':
      updateAnswered(model, at, trace);
      break;
    case 'link':
      model.link = trace;
      plan(model.requests, at, trace);
      endRefusedUpserts(model, at, trace);
      break;
    case 'visitor':
      model.visitor = { visitorId: trace.visitorId, primaryKey: trace.primaryKey, isReported: true };
  }
};

/** Events have reached their end: delivered, or dropped for a reason. */
const updateEnd = (model: Model, at: number, ended: readonly Partial<WireEvent>[], reason?: DropReason): void => {
  const { stats, waiting, requests } = model;
  const [request, uuids = []] = requests.last ?? [];
  const justAnswered = new Set(uuids);
  for (const event of ended) {
    const { uuid = '' } = event;
    const isTracked = waiting.delete(uuid);
    if (!isTracked || model.events.has(uuid)) {
      const seen = see(model, uuid);
      learn(seen, event);
      seen.endedAt = at;
      seen.end = reason ?? 'delivered';
      seen.isCounted = undefined;
      // The service refused the event because of another event in its batch, and has confirmed it since.
      if (!reason) seen.why = undefined;
      // An event from before the inspector was opened takes the times of the request that has just been answered.
      if (!seen.sentAt && request && justAnswered.has(uuid)) {
        seen.sentAt = request.sentAt;
        seen.requests.push(request.number);
      }
    }
    if (isTracked) learnVisitor(model, event);
  }
  if (reason === 'consent') learnRefusal(model);
  stats.queued -= ended.length;
  if (reason) stats.dropped[reason] = (stats.dropped[reason] ?? 0) + ended.length;
  else stats.delivered += ended.length;
  roll(model.seconds, at, stats.queued).queued = stats.queued;
};

/** An inspector that is opened after a refusal learns it from the first event that is dropped for it. */
const learnRefusal = (model: Model): void => {
  if (!model.visitor?.isReported) model.visitor = { visitorId: undefined, isReported: false };
};

/** An inspector that is opened late learns the visitor from an event tracked since. An earlier one may belong to another visitor. */
const learnVisitor = (model: Model, { event, payload, correlationValue: visitorId }: Partial<WireEvent>): void => {
  const { visitor } = model;
  if (visitor?.isReported || !visitorId) return;
  const known = visitor?.visitorId === visitorId ? visitor.primaryKey : undefined;
  const primaryKey = event === IDENTIFY ? (payload as { distinct_id?: string } | undefined)?.distinct_id : known;
  model.visitor = { visitorId, primaryKey, isReported: false };
};

const updateError = ({ errors }: Model, at: number, { message }: Error): void => {
  errors.push({ at, message });
  errors.splice(0, errors.length - MOST_ERRORS);
};

/** Takes in a signal of the tracker. */
export const update = <S extends keyof Signals>(model: Model, at: number, signal: S, value: Signals[S]): void => {
  if (signal === 'trace') updateTrace(model, at, value as Trace);
  else if (signal === 'error') updateError(model, at, value as Error);
  else {
    const { events, reason } = value as { events: Partial<WireEvent>[]; reason?: DropReason };
    updateEnd(model, at, events, reason);
  }
};

/**
 * The events without an end, the likeliest to have one first: other pages read only the store, and no page settles another page's
 * request.
 */
const likeliest = ({ waiting, requests }: Model): string[] => {
  const open = new Set([...requests.open.values()].flat());
  const rank = ([uuid, { isStored }]: [string, { isStored: boolean }]) => (open.has(uuid) ? 2 : isStored ? 0 : 1);
  return [...waiting].sort((one, other) => rank(one) - rank(other)).map(([uuid]) => uuid);
};

/**
 * Ends the events that the tracker does not count as queued any more. Another page settles events of a page in the back/forward
 * cache, and a refusal erases events that only the store has. No signal reports either.
 */
const endCounted = (model: Model, at: number, queued: number): void => {
  const { waiting, visitor } = model;
  const surplus = Math.max(waiting.size - queued, 0);
  // The signals of ends that are counted already may come later in this task: only the second look is sure.
  const ended = Math.min(surplus, model.surplus);
  model.surplus = surplus - ended;
  if (!ended) return;
  const isRefused = visitor && !visitor.visitorId;
  for (const uuid of likeliest(model).slice(0, ended)) {
    waiting.delete(uuid);
    const event = model.events.get(uuid);
    if (event)
      Object.assign(event, {
        endedAt: at,
        ...(isRefused ? { end: 'consent' } : { end: 'delivered', isCounted: true }),
      });
  }
};

/** Takes in the tracker's own sums. Some events and some ends appear only in these sums. */
export const count = (model: Model, at: number, stats: Stats): void => {
  model.before ??= Math.max(stats.tracked - model.stats.tracked, 0);
  model.stats = { ...stats, dropped: { ...stats.dropped } };
  endCounted(model, at, stats.queued);
  roll(model.seconds, at, stats.queued).queued = stats.queued;
};
