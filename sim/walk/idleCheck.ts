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
/** How long (ms) a crashed tab keeps the lease. */
const LEASE = 30_000;
/** How long (ms) clew waits until it asks the app again, if the app had no new token. */
const TOKEN_REST = 60_000;

/** Whether no call, fault, departure or pause delays the pages. The order is that of the costs. */
const isCalm = (stage: Stage): boolean => {
  const { plan, world, history, ledger, consent, app, network } = stage;
  const now = world.scheduler.now();
  const answer = consent.answers.at(-1);
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
    !history.departures.some(({ at, kind }) => at > now - (kind === 'crashes' ? LEASE : SETTLING)) &&
    !has(plan, 'poison')
  );
};

/** Whether the page has had its database for a while. With properties that have no customer, a page asks it again, and takes in journals. */
const hasSettled = ({ history, world }: Stage, page: Page): boolean => {
  const now = world.scheduler.now();
  return now - (page.storedAt ?? now) > SETTLING && !history.wasUpserted(page.name, now - SETTLING, now);
};

/** A page that still has queued events although it had time and no fault delayed it. */
export const findStuck = (stage: Stage): string | undefined => {
  if (!isCalm(stage)) return undefined;
  for (const { page } of stage.tabs) {
    if (page?.state !== 'running' || !isLoaded(page) || !hasSettled(stage, page)) continue;
    for (const { stats } of accountsOf(page)) if (stats.queued) return `${page.name} has ${stats.queued} queued events`;
  }
  return undefined;
};
