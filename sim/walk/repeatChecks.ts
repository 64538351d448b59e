import type { Write } from '../browser/browser.ts';
import type { RequestRecord } from '../server/network.ts';
import { FORGETFUL } from './identityChecks.ts';
import { type Action, has, hidesAnswers } from './plan.ts';
import { sendingsOf, takenIn } from './sent.ts';
import type { Stage } from './stage.ts';
import { mayBeTakenBack } from './unsaved.ts';

/** The database, or localStorage if the page leaves, has so soon (ms) which events are confirmed. */
const SETTLING = 300;
/** Trouble with the disk is over for clew so long (ms) after its end. */
const CALM = 5000;

/** A page has read that an event is confirmed. */
export interface Confirmed {
  readonly uuid: string;
  readonly at: number;
  readonly by: string;
}

/** Nobody reads the answer to what is handed over, or to a request whose page goes away or is frozen. */
const isRead = ({ history }: Stage, { from, at, end }: RequestRecord): boolean =>
  !!end &&
  !end.isFailed &&
  at < history.stopOf(from) &&
  history.departureOf(from, at) > end.at &&
  !history.freezes.some((freeze) => freeze.page === from && freeze.from <= end.at && freeze.to >= end.at);

const isDeath = (verb: Action['verb']): boolean => verb === 'crash' || verb === 'kill' || verb === 'discard';

/**
 * The page may not have been able to write down that the event is confirmed. If it has left at once, localStorage has it for the
 * next page, whatever becomes of the database.
 */
const isForgotten = (stage: Stage, { at, by, uuid }: Confirmed, to: number): boolean => {
  const { history, plan, acts } = stage;
  // The docs name the limit: a kill brings back calls of the stub that a page has replayed.
  if (history.wasRevived(uuid, at, to)) return true;
  // The same is true of the page's own journal. What it has taken in from another page's journal, the database remembers.
  const isJournaled = ({ page, at: written, value }: Write) =>
    page === by && written <= at && typeof value === 'string' && value.includes(uuid);
  if (mayBeTakenBack(stage, at) && stage.browser.writes.some(isJournaled)) return true;
  const left = history.departureOf(by, at);
  const isInTime = left <= at + SETTLING;
  if (history.refused.has(by) || (isInTime && mayBeTakenBack(stage, left))) return true;
  if (isInTime && history.wasJournalFair(left, to))
    return has(plan, ...FORGETFUL, 'clearDatabase') || acts.some((act) => isDeath(act.verb) && act.at >= at);
  const isCrashed = acts.some((act) => isDeath(act.verb) && act.at >= at && act.at <= at + SETTLING);
  return isCrashed || !history.wasDiskFair(at - CALM, to);
};

const hasEvent = ({ value }: Write, uuid: string): boolean => JSON.stringify(value).includes(uuid);

/**
 * A page that receives no messages, in the back/forward cache or without BroadcastChannel, comes back or leaves before the event is sent
 * again. If it had the event, also from the journal of another page, it does not learn that it is confirmed, and stores or journals it
 * again. What a page has it writes down, at the latest as it leaves. Without BroadcastChannel, a page that is back never learns that
 * another one has sent what is in its journal.
 */
export const isMissed = ({ history, browser, plan }: Stage, { uuid, at, by }: Confirmed, to: number): boolean => {
  const { hasChannel } = plan.features;
  const back = history.restored(hasChannel ? at : 0, to).filter((page) => !hasChannel || history.wasAway(page, at, at));
  const left = hasChannel ? [] : history.departures.filter((one) => one.at >= at && one.at <= to);
  return [...back, ...left.map(({ page }) => page)].some(
    (page) =>
      page !== by && browser.writes.some((write) => write.page === page && write.at <= at && hasEvent(write, uuid)),
  );
};

/** A page that was already there may not learn of it. The next page finds what one that leaves has written. */
const isKnown = ({ history }: Stage, { at, by }: Confirmed, page: string): boolean =>
  page === by || history.loadOf(page) >= Math.min(at + SETTLING, history.departureOf(by, at));

/** What a page has left to `fetchLater` goes out when it crashes. */
const isLeft = ({ history }: Stage, { at, from }: RequestRecord): boolean =>
  history.departures.some((left) => left.page === from && left.at === at && left.kind === 'crashes');

/** An event that a page sends although it, or a page before it, has read that the event is confirmed. */
export const findSentAgain = (stage: Stage): string | undefined => {
  // An app's transport that rejects has read the answer, and hides it.
  if (hidesAnswers(stage.plan)) return undefined;
  const confirmed = new Map<string, Confirmed>();
  const sent = sendingsOf(stage);
  for (const { record, uuids } of sent)
    for (const uuid of [...uuids, ...takenIn(stage, record)])
      if (isRead(stage, record) && !confirmed.has(uuid) && !record.end?.expired.includes(uuid))
        confirmed.set(uuid, { uuid, at: record.end?.at ?? 0, by: record.from });
  for (const { record, uuids } of sent)
    for (const uuid of uuids) {
      const known = confirmed.get(uuid);
      if (!known || record.at <= known.at || !isKnown(stage, known, record.from) || isLeft(stage, record)) continue;
      if (isForgotten(stage, known, record.at) || isMissed(stage, known, record.at)) continue;
      return `${record.from} sends ${uuid} at ${record.at.toFixed(0)} ms, confirmed to ${known.by} at ${known.at.toFixed(0)} ms`;
    }
  return undefined;
};
