import type { Page } from '../browser/page.ts';
import { isRequired } from './consent.ts';
import { accountsOf } from './npm/app.ts';
import { has } from './plan.ts';
import type { Stage } from './stage.ts';
import { isLoaded } from './visitor.ts';

/** So long (ms) after the last call at most, all is delivered: two flush intervals and what they need. */
const SETTLING = 10_000;
/** A back-off ends, at most. */
const BACK_OFF = 600_000;
/** A wait ends so long (ms) after the clock was set, at most. */
const LONGEST_WAIT = 3_600_000;
/** A tab that has crashed holds the lease for so long (ms). */
const LEASE = 30_000;

const isCalm = (stage: Stage, page: Page): boolean => {
  const { plan, world, history, ledger, consent } = stage;
  const now = world.scheduler.now();
  // Those of other pages, too: a page takes in what they have journaled.
  const calls = [...ledger.tracked.values(), ...ledger.identified];
  return (
    now - (page.storedAt ?? now) > SETTLING &&
    calls.every(({ at }) => now - at > SETTLING) &&
    !has(plan, 'poison') &&
    // What is held back for want of consent counts as queued.
    (!isRequired(stage) || (consent.answers.at(-1)?.at ?? now) < now - SETTLING) &&
    (!isRequired(stage) || !!consent.answers.at(-1)?.isGranted) &&
    history.wasNetworkFair(now - BACK_OFF, now) &&
    history.wasDiskFair(now - LEASE, now) &&
    history.wasAwake(now - LEASE, now) &&
    history.wasClockFair(now - LONGEST_WAIT, now) &&
    // A page that has just left had no time to release its lease.
    !stage.acts.some(({ at, verb }) => verb === 'kill' && at > now - LEASE) &&
    !history.departures.some(({ at, kind }) => at > now - (kind === 'crashes' ? LEASE : SETTLING))
  );
};

/** A page that has had time and nothing in its path, and still has queued events. */
export const findStuck = (stage: Stage): string | undefined => {
  for (const { page } of stage.tabs) {
    if (page?.state !== 'running' || !isLoaded(page) || !isCalm(stage, page)) continue;
    for (const { stats } of accountsOf(page)) if (stats.queued) return `${page.name} has ${stats.queued} queued events`;
  }
  return undefined;
};
