import type { Stats } from '../../src/api/types.ts';
import { isLoaded } from '../browser/page.ts';
import type { Tracked } from './ledger.ts';
import { sendingsOf } from './sent.ts';
import type { Stage } from './stage.ts';

/** Longest time (ms) until a page learns that an event has arrived, if the network works. */
const HEARING = 30_000;
/** How long (ms) a page may count events twice that it has read, and that another page reports. */
const REPORTING = 1000;
/** How long (ms) a page waits for the database. After that it works without storage. */
export const PATIENCE = 3000;
/** How long (ms) a page needs for the journals of earlier pages after its database has answered. */
const TAKING_IN = 300;
/** Number of items that `identify()` queues: an event, and the customer's properties. */
const PER_IDENTIFY = 2;
/** Most characters that clew keeps in localStorage besides events: ids of sent events, names, and the visitor. */
const MOST_NAMES = 60_000;
/** Most characters of an event besides its payload. */
export const ENVELOPE = 600;

/** Most events that a page may hold. Walks without `maxQueuedEvents` do not reach clew's default. */
const mostOf = ({ dataset }: Stage['plan']): number => Number(dataset.maxQueuedEvents ?? Number.POSITIVE_INFINITY);

/**
 * Whether a page may have had no room at this time (ms), for what comes after the events that `isBefore` selects.
 *
 * @param isTwice selects those that the page may count twice
 */
export const isFullAt = (
  { ledger, service, plan, history }: Stage,
  at: number,
  isBefore: (tracked: Tracked) => boolean,
  isTwice = (_: Tracked) => false,
): boolean => {
  const arrivals = new Map<number | undefined, number>();
  for (const stored of service.stored) {
    const { n } = stored.payload;
    if (stored.isConfirmed && !arrivals.has(n) && history.wasNetworkFair(stored.at, at)) arrivals.set(n, stored.at);
  }
  const waiting = [...ledger.tracked.values()].filter(
    (one) => isBefore(one) && (arrivals.get(one.n) ?? Number.POSITIVE_INFINITY) > at - HEARING,
  );
  const length = waiting.length + waiting.filter(isTwice).length;
  return length + PER_IDENTIFY * ledger.identified.length >= mostOf(plan);
};

/** Whether the page of this event may have had no room for it. */
export const isFullFor = (stage: Stage, n: number): boolean => {
  const event = stage.ledger.tracked.get(n);
  if (!event) return false;
  const { at, page } = event;
  // A page that adopts the event may already have younger events of its own.
  const isBefore = (other: Tracked) => other.n < n || other.page !== page;
  // The page reads the rows of other pages as the database answers, and their reports about these rows come later.
  const isReported = (other: Tracked) => other.page !== page && at - stage.history.loadOf(page) < REPORTING;
  return isFullAt(stage, at, isBefore, isReported);
};

/** Characters of stored events that a page keeps in memory. The latest row may exceed them. */
export const MIRROR = 65_536;
const MOST_ROW = 60_000;

/** The stored events that only the database has: they are in no journal and in no open request. */
export const findErased = (stage: Stage, stored: ReadonlySet<number>): ReadonlySet<number> => {
  const journaled = stage.inJournals();
  const sent = sendingsOf(stage).flatMap(({ record, uuids }) => (record.end ? [] : uuids));
  const ids = new Set(sent);
  const underWay = new Set(
    stage.service.stored.flatMap(({ uuid, payload }) => (ids.has(uuid) ? (payload.n ?? 0) : [])),
  );
  return new Set([...stored].filter((n) => !journaled.has(n) && !underWay.has(n)));
};

/** A page that kept too many stored events in memory. After the database is deleted, only events in memory can still arrive. */
export const findHoard = ({ history, ledger, service }: Stage): string | undefined => {
  for (const { events, at } of history.erasures) {
    const arrived = new Set(service.stored.flatMap(({ payload, at: time }) => (time > at ? (payload.n ?? 0) : [])));
    const kept = new Map<string, number>();
    for (const n of events) {
      const { page = '', size = 0 } = ledger.tracked.get(n) ?? {};
      if (arrived.has(n)) kept.set(page, (kept.get(page) ?? 0) + size);
    }
    const [most] = [...kept].filter(([, length]) => length > MIRROR + MOST_ROW);
    if (most) return `${most[0]} had ${most[1]} characters of what was stored`;
  }
  return undefined;
};

/** The most pages that have run at once since the walk began. */
const crowds = new WeakMap<Stage, number>();

/** Updates and returns that number. */
const crowdOf = (stage: Stage): number => {
  const running = [...stage.browser.pages].filter(({ state }) => state === 'running').length;
  const crowd = Math.max(crowds.get(stage) ?? 1, running);
  crowds.set(stage, crowd);
  return crowd;
};

/** A page with too many queued events. A page may take in the events of all pages that ran at once, each up to its bound. */
export const findExcess = (stage: Stage): string | undefined => {
  if (!stage.plan.dataset.maxQueuedEvents) return undefined;
  const most = mostOf(stage.plan) * crowdOf(stage);
  for (const page of stage.browser.pages) {
    if (page.state !== 'running' || !isLoaded(page)) continue;
    const stats = page.clew()?.('stats') as Stats | undefined;
    if (stats && stats.queued > most) return `${page.name} has ${stats.queued} queued events`;
  }
  return undefined;
};

/** The pages that may have filled up without knowing what earlier pages have stored. */
const strangers = new WeakMap<Stage, Set<string>>();

/**
 * Updates and returns these pages. A page counts until its database has answered, and if it leaves before that, until
 * a later page has taken in what it has left. The docs name the limit: "The count of stored events is an estimate".
 */
const strangersOf = (stage: Stage): ReadonlySet<string> => {
  const { browser, history, world } = stage;
  const found = strangers.get(stage) ?? new Set();
  strangers.set(stage, found);
  const running = [...browser.pages].filter(({ state }) => state === 'running');
  const answers = running.flatMap(({ storedAt = Number.POSITIVE_INFINITY }) =>
    world.scheduler.now() - storedAt >= TAKING_IN ? storedAt : [],
  );
  const last = Math.max(...answers);
  // A page may load and leave within one task.
  for (const { page, at } of history.departures) if (at === history.loadOf(page)) found.add(page);
  for (const name of found) if (history.loadOf(name) <= last) found.delete(name);
  for (const { name, storedAt } of running) if (storedAt === undefined && !history.shut.has(name)) found.add(name);
  return found;
};

/** How many events the origin may keep, because it has had so many when it might. These events stay until they are delivered. */
const ceilings = new WeakMap<Stage, number>();

/** Updates and returns how many events the origin may hold at this moment. */
const mostHeldBy = (stage: Stage): number => {
  const { plan, onDisk, history, ledger } = stage;
  const bound = mostOf(plan) * crowdOf(stage);
  const strangers = strangersOf(stage);
  // A page whose database is shut does not see what earlier pages have stored there.
  const isUnaware = (page: string) => strangers.has(page) || history.shut.has(page);
  const unaware = [...ledger.tracked.values()].filter(({ page }) => isUnaware(page)).length;
  const most = Math.max(bound + unaware, ceilings.get(stage) ?? 0);
  const { size } = onDisk();
  ceilings.set(stage, size > bound ? Math.min(size, most) : 0);
  return most;
};

/**
 * More in the storage of the origin than its pages may hold. Pages that follow each other share one bound. Pages that are
 * open at once may each fill up before they know of each other.
 */
export const findSurplus = (stage: Stage): string | undefined => {
  const { browser, plan, ledger, service, onDisk } = stage;
  if (!plan.dataset.maxQueuedEvents) return undefined;
  const crowd = crowdOf(stage);
  const most = mostHeldBy(stage);
  const stored = onDisk();
  if (stored.size > most) return `${stored.size} events are stored, ${crowd} pages were open at once`;
  // Each page knows at least how many events it has itself. Those that have arrived are deleted later.
  const arrived = new Set(stored.size > mostOf(plan) ? service.stored.map(({ payload }) => payload?.n) : []);
  const own = new Map<string, number>();
  for (const n of stored) {
    const { page = '' } = ledger.tracked.get(n) ?? {};
    if (!arrived.has(n)) own.set(page, (own.get(page) ?? 0) + 1);
  }
  for (const [page, count] of own) if (count > mostOf(plan)) return `${count} events of ${page} are stored`;
  let length = 0;
  for (const [key, value] of browser.localStorage) if (key.startsWith('clew')) length += value.length;
  const payloads = [...stored].reduce((sum, n) => sum + ENVELOPE + (ledger.tracked.get(n)?.size ?? 0), 0);
  const { departures, loadOf, wasDiskFair } = stage.history;
  // A page may leave before its transaction is done. Then its journal and those that the page has adopted stay.
  const early = departures.filter(({ page, kind, at }) => kind === 'leaves' && at < loadOf(page) + PATIENCE).length;
  // While a page adopts a journal, localStorage has its events twice. If the database fails, each page has a copy.
  const copies = 1 + (wasDiskFair(0, stage.world.scheduler.now()) ? 1 : crowd + early);
  if (length > MOST_NAMES + copies * payloads) return `${length} characters in localStorage for ${stored.size} events`;
  return undefined;
};
