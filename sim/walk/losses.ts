import type { Page } from '../browser/page.ts';
import { ENVELOPE, MIRROR, PATIENCE } from './boundChecks.ts';
import { isEndedByConsent, releasedAt } from './consent.ts';
import type { Tracked } from './ledger.ts';
import { has } from './plan.ts';
import type { Stage } from './stage.ts';

/** How soon (ms) an event is in the database if the disk works. */
const STORING = 100;
/** How long (ms) a fault of the disk affects clew after its end. */
const CALM = 5000;

const wasStored = (stage: Stage, event: Tracked): boolean => {
  const { history } = stage;
  const now = stage.world.scheduler.now();
  const at = releasedAt(stage, event);
  const isAwake = !history.freezes.some(
    ({ page: frozen, from }) => frozen === event.page && from >= at && from < at + STORING,
  );
  const isStorable = history.wasDiskFair(at - CALM, now) && !history.refused.has(event.page);
  return event.isReceived && now - at > STORING && isStorable && isAwake;
};

/** Whether the journal has the event. Until its database has answered, a page journals each event at the end of the task. */
const wasJournaled = (stage: Stage, event: Tracked): boolean => {
  const { at, isReceived, isEarly, page } = event;
  const now = stage.world.scheduler.now();
  const { history } = stage;
  const isWritable = history.wasJournalFair(at, now) && !history.refused.has(page);
  const loaded = history.loadOf(page);
  // A database that is full fails at once.
  const mayFail = has(stage.plan, 'fillDisk');
  // A page that has given its database up works on memory alone.
  const isWaiting =
    (at < loaded + PATIENCE && !mayFail) || (history.wasDiskFair(loaded, at) && !history.shut.has(page));
  return isReceived && isEarly && isWaiting && now > at && releasedAt(stage, event) === at && isWritable;
};

/** Excuses the loss of the events that `isGone` selects, except the events in `kept`. */
const excuse = (
  stage: Stage,
  isGone: (event: Tracked) => boolean,
  why: string,
  kept: ReadonlySet<number> = stage.certain(),
): void => {
  for (const event of stage.ledger.tracked.values()) if (isGone(event) && !kept.has(event.n)) event.excuse ??= why;
};

/** Whether the page has tracked an event, or may have adopted it from a page that has left. */
const isHeldBy = ({ browser }: Stage, page: Page) => {
  const running = new Set([...browser.pages].filter(({ state }) => state === 'running').map(({ name }) => name));
  return (event: Tracked) => event.page === page.name || (page.refusal !== 'all' && !running.has(event.page));
};

/** Excuses events that only the memory of a crashed page had. */
export const forgetCrashed = (stage: Stage, page: Page): void => {
  const { history } = stage;
  const now = stage.world.scheduler.now();
  const isStorable = history.wasDiskFair(history.loadOf(page.name) - CALM, now) && history.wasJournalFair(0, now);
  const isIts = isStorable ? (event: Tracked) => event.page === page.name : isHeldBy(stage, page);
  excuse(stage, (event) => isIts(event) && !wasStored(stage, event) && !wasJournaled(stage, event), 'crash');
  forgetUnrestored(stage, page);
};

/** Excuses events of a page that leaves without storage. The docs promise nothing for its unsent events. */
export const forgetUnstored = (stage: Stage, page: Page): void => {
  const { history, world } = stage;
  const isRefused = history.refused.has(page.name);
  const now = world.scheduler.now();
  forgetUnrestored(stage, page);
  if (!isRefused && history.wasJournalFair(now, now)) return;
  excuse(stage, isHeldBy(stage, page), 'no storage');
  // Where the page could store no event, it could store no change of the visitor, either.
  if (!history.wasDiskFair(now, now)) stage.ledger.doubt(now);
};

/** Excuses events after a kill of the browser, which loses the last writes to localStorage, but not to the database. */
export const forgetKilled = (stage: Stage): void => {
  const { history } = stage;
  const isSafe = (event: Tracked) =>
    !event.isEarly && wasStored(stage, event) && history.departureOf(event.page, event.at) > event.at + STORING;
  excuse(stage, (event) => !isSafe(event), 'kill');
};

/**
 * The stored events that their page need not have in memory, because only the latest events stay there. Calls of a stub
 * may have become the events of any page.
 */
const findTrimmed = ({ ledger }: Stage, stored: ReadonlySet<number>): ReadonlySet<number> => {
  const lengths = new Map<string, number>();
  let unreceived = 0;
  const latest = [...ledger.tracked.values()].filter(({ n }) => stored.has(n)).reverse();
  return new Set(
    latest.flatMap(({ n, page, size, isReceived }) => {
      const length = size + ENVELOPE;
      const own = (lengths.get(page) ?? 0) + (isReceived ? length : 0);
      if (!isReceived) unreceived += length;
      lengths.set(page, own);
      return own + unreceived > MIRROR ? n : [];
    }),
  );
};

/**
 * Excuses events after the site has deleted its databases. Pages with an open database still have their latest events in
 * memory. The journal of a page that has left may be deleted once its events were `stored`.
 */
export const forgetDeleted = (stage: Stage, stored: ReadonlySet<number>): void => {
  const { history, world, browser } = stage;
  const isLeaving = (page: Page) => history.departureOf(page.name, world.scheduler.now()) <= world.scheduler.now();
  const names = new Set(
    [...browser.pages].flatMap((page) =>
      page.state === 'running' && page.storedAt !== undefined && !isLeaving(page) ? page.name : [],
    ),
  );
  const kept = [...stage.inJournals()].filter((n) => !stored.has(n));
  const trimmed = findTrimmed(stage, stored);
  // Calls of a stub, and events of a page in the back/forward cache, may have become another page's.
  const isGone = ({ page, at, isReceived, n }: Tracked) =>
    !names.has(page) || !isReceived || trimmed.has(n) || history.restored(at, world.scheduler.now()).includes(page);
  excuse(stage, isGone, 'database deleted', new Set(kept));
};

/** Excuses events after the browser has closed the database, which aborts the last transaction of a page that has left. */
export const forgetBrokenOff = (stage: Stage): void => {
  const { browser, world } = stage;
  const running = new Set([...browser.pages].filter(({ state }) => state === 'running').map(({ name }) => name));
  const since = world.scheduler.now() - STORING;
  excuse(stage, ({ page, at }) => !running.has(page) && at >= since, 'connection closed');
};

/** When the site has last deleted its database. */
const clearedAt = ({ acts }: Stage): number =>
  acts.findLast(({ verb }) => verb === 'clearDatabase')?.at ?? Number.NEGATIVE_INFINITY;

/** Excuses events of a page that had no time to store them again after its database was deleted. */
const forgetUnrestored = (stage: Stage, page: Page): void => {
  const cleared = clearedAt(stage);
  const now = stage.world.scheduler.now();
  if (now - cleared > STORING && stage.history.wasDiskFair(cleared, now)) return;
  excuse(stage, (event) => event.page === page.name && event.at <= cleared, 'database deleted');
};

/** Whether the event is in the memory of a page that stays frozen. After a deletion, no other page finds the event in the database. */
const isInFrozenPage = (stage: Stage, event: Tracked): boolean =>
  event.at <= clearedAt(stage) &&
  [...stage.browser.pages].some(({ name, isFrozen }) => name === event.page && isFrozen);

/** Longest time (ms) from a request to its answer. */
const HANDING = 30_000;

/** Whether a kill within this time has cut handovers. */
export const isCut = ({ acts }: Stage, from: number, to: number): boolean =>
  acts.some(({ verb, at }) => verb === 'kill' && at >= from && at <= to);

/** Whether a service has answered a request before this time. A page that does not know whether the service works keeps what it hands over. */
const wasAnswered = ({ network }: Stage, at: number): boolean =>
  network.requests.some(({ end }) => end && !end.isFailed && end.at <= at);

/**
 * Whether the event may be lost without a report. Without a relay, clew counts a handover as delivered if the service has
 * answered shortly before. The docs name the limit: a fault in that moment loses the events. The page that leaves
 * may have adopted the event from an earlier page.
 */
export const isExcused = (stage: Stage, event: Tracked): boolean =>
  !!event.excuse ||
  isEndedByConsent(stage, event) ||
  isInFrozenPage(stage, event) ||
  (stage.plan.isDirect &&
    stage.history.departures.some(
      ({ at, kind, isLoaded }) =>
        kind === 'leaves' &&
        isLoaded &&
        at >= event.at &&
        wasAnswered(stage, at) &&
        (has(stage.plan, 'poison') ||
          !stage.history.wasNetworkFair(at - HANDING, at + HANDING) ||
          isCut(stage, at, at + HANDING)),
    ));
