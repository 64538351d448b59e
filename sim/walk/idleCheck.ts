import { isLoaded, type Page } from '../browser/page.ts';
import { isRequired } from './consent.ts';
import { accountsOf } from './npm/app.ts';
import { has } from './plan.ts';
import type { Stage } from './stage.ts';

/** Longest time (ms) from the last call until all events are delivered: two flush intervals, and some time for the requests. */
const SETTLING = 10_000;
/** Longest back-off, in ms. */
const BACK_OFF = 600_000;
/** Longest wait (ms) after the clock was set. */
const LONGEST_WAIT = 3_600_000;
/** How long (ms) a crashed tab keeps the lease, or a tab whose end another tab has overwritten in localStorage. */
const LEASE = 30_000;
/** How long (ms) clew waits until it asks the app again, if the app had no new token. */
const TOKEN_REST = 60_000;

/** Whether no call, fault, departure or pause delays the pages. The order is that of the costs. */
const isCalm = (stage: Stage): boolean => {
  const { plan, world, history, ledger, consent, app, network } = stage;
  const now = world.scheduler.now();
  const answer = consent.answers.at(-1);
  const { hasLag } = plan.features;
  return (
    // Calls of other pages count, too, because a page takes in their journals.
    now - ledger.lastAt() > SETTLING &&
    now - network.pausedUntil > SETTLING &&
    now - app.tokenFailedAt > TOKEN_REST + SETTLING &&
    // An event that is held back for want of consent counts as queued.
    (!isRequired(stage) || (!!answer?.isGranted && now - answer.at > SETTLING)) &&
    history.wasNetworkFair(now - BACK_OFF, now) &&
    history.wasDiskFair(now - LEASE, now) &&
    history.wasAwake(now - LEASE, now) &&
    history.wasClockFair(now - LONGEST_WAIT, now) &&
    // A page that has just left had no time to release its lease.
    !stage.acts.some(({ at, verb }) => verb === 'kill' && at > now - LEASE) &&
    !history.departures.some(({ at, kind }) => at > now - (kind === 'crashes' || hasLag ? LEASE : SETTLING)) &&
    !has(plan, 'poison')
  );
};

/** Whether the page has had its database for a while. With properties that have no customer, a page asks it again, and takes in journals. */
const hasSettled = ({ history, world }: Stage, page: Page): boolean => {
  const now = world.scheduler.now();
  return now - (page.storedAt ?? now) > SETTLING && !history.wasUpserted(page.name, now - SETTLING, now);
};

/** A page that still has queued events although it had time and no fault delayed it. */
const findStuck = (pages: readonly Page[]): string | undefined => {
  for (const page of pages)
    for (const { stats } of accountsOf(page)) if (stats.queued) return `${page.name} has ${stats.queued} queued events`;
  return undefined;
};

/** An event that is still stored although the service has it, and the pages had time to delete it. */
const findKept = (stage: Stage, pages: readonly Page[]): string | undefined => {
  const { service, history } = stage;
  const loaded = Math.max(...pages.map(({ name }) => history.loadOf(name)));
  // Only a page that loads after the departure asks whether a handover has arrived.
  if (history.departures.some(({ at }) => at >= loaded)) return undefined;
  const stored = stage.onDisk();
  if (!stored.size) return undefined;
  // Properties of a customer whose `$identify` was dropped wait for the next `identify()`.
  const waiting = stage.inEarly();
  const confirmed = new Set(
    service.stored.flatMap(({ payload, isConfirmed }) => (isConfirmed ? (payload.n ?? 0) : [])),
  );
  const kept = [...stored].filter((n) => !waiting.has(n) && (confirmed.has(n) || service.upserted.has(n)));
  return kept[0] === undefined ? undefined : `still stored: ${kept.slice(0, 10)}`;
};

/** A promise of `flush`, `trackNow` or `correlationValue` that is pending although nothing delays its page. */
const findPending = ({ flushes, world }: Stage, pages: readonly Page[]): string | undefined => {
  for (const [, { page, at }] of flushes)
    if (pages.includes(page) && world.scheduler.now() - at > LEASE)
      return `${page.name}, since ${(at / 1000).toFixed(3)} s`;
  return undefined;
};

/** The faults of pages that nothing delays, by invariant. */
export const checkIdle = (stage: Stage) => {
  if (!isCalm(stage)) return {};
  const open = stage.tabs.flatMap(({ page }) => (page?.state === 'running' && isLoaded(page) ? page : []));
  const settled = open.filter((page) => hasSettled(stage, page));
  return {
    idle: findStuck(settled),
    storage: settled[0] && settled.length === open.length ? findKept(stage, settled) : undefined,
    flush: findPending(stage, settled),
  };
};
