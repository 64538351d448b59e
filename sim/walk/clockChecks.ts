import { isOther } from '../server/addresses.ts';
import { type RequestRecord, textOf } from '../server/network.ts';
import type { Stored } from '../server/service.ts';
import { EPOCH } from '../world/world.ts';
import { has } from './plan.ts';
import type { Stage } from './stage.ts';

interface SentEvent {
  readonly uuid?: string;
  readonly seq?: readonly [page: number, event: number];
  readonly payload?: { readonly n?: number };
}

interface Body extends SentEvent {
  readonly batch?: readonly SentEvent[];
  readonly clock?: readonly [now: number, age: number];
}

/** A page load as a relay knows it: a page from the back/forward cache is another one. */
interface Load {
  /** Names of the pages that have tracked its events. A page may replay calls of an earlier page's stub. */
  readonly pages: Set<string>;
  /** The load's events by id, with their numbers. */
  readonly events: Map<string, number>;
  /** Each request with one of its events, in order. */
  readonly requests: { readonly record: RequestRecord; readonly hasClock: boolean; readonly isSingle: boolean }[];
}

const loadsOf = ({ network, ledger }: Stage): Load[] => {
  const loads = new Map<string, Load>();
  const add = (record: RequestRecord, { clock, batch }: Body, event: SentEvent) => {
    const { uuid, seq, payload } = event;
    if (!uuid || !seq) return;
    // After a log-out, the page load has another visitor id, and the same clock.
    const key = `${isOther(record.request.url)} ${seq[0]}`;
    const load: Load = loads.get(key) ?? { pages: new Set(), events: new Map(), requests: [] };
    loads.set(key, load);
    load.events.set(uuid, seq[1]);
    const page = ledger.tracked.get(payload?.n ?? 0)?.page;
    if (page) load.pages.add(page);
    if (load.requests.at(-1)?.record !== record)
      load.requests.push({ record, hasClock: !!clock, isSingle: !batch?.[1] });
  };
  for (const record of network.requests) {
    if (!record.from.startsWith('page')) continue;
    const body: Body = JSON.parse(textOf(record.request));
    for (const event of body.batch ?? []) add(record, body, event);
  }
  return [...loads.values()];
};

/** The relay leaves a clock alone that is wrong by less (ms). */
const RIGHT = 120_000;
/** A corrected time is true within so many ms, and as much as the load's first request took. */
const CLOSE = 1000;

/**
 * The requests until the relay knew the load's clock. Undefined if others than its own page have sent its events before, or without a
 * clock.
 */
const measured = ({ pages, requests }: Load): { readonly at: number; readonly ms: number } | undefined => {
  const ends = requests.flatMap(({ record: { end } }) => (end && !end.isFailed ? end.at : []));
  const known = Math.min(...ends);
  // The later of two requests may arrive first.
  const first = requests.filter(({ record: { at } }) => at <= known);
  const isOwn = first.every(({ record: { from }, hasClock }) => pages.has(from) && hasClock);
  if (!ends[0] || !isOwn || pages.size !== 1) return undefined;
  const took = first.map(({ record: { at, end } }) => Math.min(end?.at ?? known, known) - at);
  return { at: known, ms: Math.max(...took) };
};

/**
 * A request of a page that states no clock, although the page is open or leaves. After a 413, one event may be as large as a batch may
 * be: it goes without a statement.
 */
const findUnstated = ({ pages, requests }: Load, { history }: Stage): string | undefined => {
  const unstated = requests.find(({ record: { from, at, request }, hasClock, isSingle }) => {
    const isLarge = isSingle && !request.url.includes('?handover=');
    const isGone = history.departures.some(
      ({ page, kind, at: gone }) => page === from && kind === 'crashes' && gone <= at,
    );
    return !hasClock && !isGone && !isLarge;
  });
  return unstated && `a request with events of ${[...pages]} states no clock`;
};

/** An event whose time is not the true one at the service, although its page had one clock, right or wrong, until it was measured. */
export const findWrongClock = (stage: Stage): string | undefined => {
  const { history, service, ledger, plan } = stage;
  if (plan.isDirect) return undefined;
  const stored = new Map<string, Stored>(service.stored.map((event) => [event.uuid, event]));
  for (const load of loadsOf(stage)) {
    const unstated = findUnstated(load, stage);
    if (unstated) return unstated;
    const known = measured(load);
    const [page = ''] = load.pages;
    const from = history.loadOf(page);
    if (!known || !history.wasClockFair(from, known.at)) continue;
    const skew = history.skewAt(from);
    const isLeft = Math.abs(skew) < RIGHT - known.ms;
    for (const uuid of load.events.keys()) {
      const event = stored.get(uuid);
      const call = ledger.tracked.get(event?.payload.n ?? 0);
      if (!event?.timestamp || !call || !history.wasClockFair(from, call.at)) continue;
      // The request states a third clock, which an event of the second one may bring to all of its page load.
      if (history.wasSetAgain(call.at, event.at)) continue;
      // The docs name the limit: a time after the arrival counts as one of the clock that was set ahead since.
      if (isLeft && skew > 0 && history.wasSetAhead(call.at)) continue;
      const error = Date.parse(event.timestamp) - Math.floor(EPOCH + call.at);
      const isRight = isLeft ? error === skew : Math.abs(error) <= CLOSE + known.ms;
      if (!isRight) return `event ${call.n} of ${page} is ${error} ms late, and its clock was ${skew} ms ahead`;
    }
    // An `$identify` gets its number once the database has answered. Other events have theirs from the call.
    const times = [...load.events]
      .sort(([, one], [, other]) => one - other)
      .flatMap(([uuid]) => stored.get(uuid) ?? [])
      .flatMap(({ event, timestamp }) => (event === '$identify' ? [] : timestamp));
    // A listener that tracks while others are finished may get a lower number.
    const isOrdered = has(plan, 'setClock') && !history.wasSetAhead(from);
    if (isOrdered && times.some((time, at) => time < (times[at - 1] ?? '')))
      return `events of ${page} are not in the order of their times`;
  }
  return undefined;
};
