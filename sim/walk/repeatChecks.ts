import type { Write } from '../browser/browser.ts';
import { MOST_LAG } from '../browser/tabStorage.ts';
import type { RequestRecord } from '../server/network.ts';
import { FORGETFUL } from './identityChecks.ts';
import { type Action, has, hidesAnswers } from './plan.ts';
import { sendingsOf, takenIn } from './sent.ts';
import type { Stage } from './stage.ts';
import { mayBeTakenBack } from './unsaved.ts';

/** A receipt in localStorage begins so. */
const RECEIPT = '{"ids"';
/** How soon (ms) the database, or localStorage if the page leaves, has the ids of confirmed events. */
const SETTLING = 300;
/** How long (ms) a fault of the disk affects clew after its end. */
const CALM = 5000;

/** A page has read that an event is confirmed. */
export interface Confirmed {
  readonly uuid: string;
  readonly at: number;
  readonly by: string;
}

/** Whether the page has read a success. A page reads no answer to a handover, or after it has left or is frozen. */
const isRead = ({ history }: Stage, { from, at, end }: RequestRecord): boolean =>
  !!end &&
  !end.isFailed &&
  at < history.stopOf(from) &&
  history.departureOf(from, at) > end.at &&
  !history.freezes.some((freeze) => freeze.page === from && freeze.from <= end.at && freeze.to >= end.at);

const isDeath = (verb: Action['verb']): boolean => verb === 'crash' || verb === 'kill' || verb === 'discard';

export const hasEvent = ({ value }: Write, uuid: string): boolean => JSON.stringify(value).includes(uuid);

/**
 * Whether a page with the event has crashed, and the site has deleted the database. With the database goes the list of journals that
 * were taken in, so two pages may take in the same one. The page that crashes leaves the event in its own journal.
 */
const isTakenInAgain = ({ acts, browser, history }: Stage, uuid: string, to: number): boolean =>
  acts.some(({ verb, at }) => verb === 'clearDatabase' && at <= to) &&
  history.departures.some(
    ({ page, kind, at }) =>
      kind === 'crashes' &&
      at <= to &&
      browser.writes.some(
        (write) => write.page === page && write.at <= at && typeof write.value === 'string' && hasEvent(write, uuid),
      ),
  );

/**
 * Whether the page may not have been able to store that the event is confirmed. If the page has left at once, localStorage
 * has this for the next page, even if the database fails.
 */
const isForgotten = (stage: Stage, { at, by, uuid }: Confirmed, to: number): boolean => {
  const { history, plan, acts } = stage;
  // The docs name the limit: a kill brings back calls of the stub that a page has replayed.
  if (history.wasRevived(uuid, at, to)) return true;
  // A crash may bring back the page's own journal, and take the receipt of a handover. The database lists the journals of other pages
  // that the page has taken in.
  const isJournaled = ({ page, at: written, value }: Write) =>
    written <= at && typeof value === 'string' && value.includes(uuid) && (page === by || value.startsWith(RECEIPT));
  if (mayBeTakenBack(stage, at) && stage.browser.writes.some(isJournaled)) return true;
  if (isTakenInAgain(stage, uuid, to)) return true;
  const left = history.departureOf(by, at);
  const isInTime = left <= at + SETTLING;
  if (history.refused.has(by) || (isInTime && mayBeTakenBack(stage, left))) return true;
  if (isInTime && history.wasJournalFair(left, to))
    return has(plan, ...FORGETFUL, 'clearDatabase') || acts.some((act) => isDeath(act.verb) && act.at >= at);
  const isCrashed = acts.some((act) => isDeath(act.verb) && act.at >= at && act.at <= at + SETTLING);
  // The database of a page may stay shut after the fault of the disk.
  return isCrashed || history.shut.has(by) || !history.wasDiskFair(at - CALM, to);
};

/**
 * Whether a page with the event did not learn that it is confirmed, and stored or journaled it again. Such a page was in the
 * back/forward cache, or left without BroadcastChannel, before the event was sent again. Such a page may have the event from the
 * journal of another page. A page writes each of its events, at the latest as it leaves. Without BroadcastChannel, a page that is
 * back never learns that another page has sent the events of its journal.
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

/**
 * Whether another page left the event in its journal just before the database answered the page that sent it. Such a page does not see the
 * journal yet. A later page takes the journal in.
 */
const isUnseen = ({ history, browser, plan }: Stage, { uuid, at, by }: Confirmed): boolean =>
  !!plan.features.hasLag &&
  history.departures.some(
    (left) =>
      left.page !== by &&
      left.at <= at &&
      history.restored(left.at - MOST_LAG, left.at + MOST_LAG).includes(by) &&
      browser.writes.some((write) => write.page === left.page && write.at === left.at && hasEvent(write, uuid)),
  );

/**
 * Whether another page has replayed the same call, because both pages began before one saw that the other had. The docs name the limit:
 * without a relay, that page may send the call again.
 */
const isReplayedTwice = ({ history, browser, plan }: Stage, { uuid, by }: Confirmed): boolean =>
  plan.isDirect &&
  !!plan.features.hasLag &&
  browser.writes.some(
    (write) =>
      write.page !== by &&
      Math.abs(history.loadOf(write.page) - history.loadOf(by)) <= MOST_LAG &&
      hasEvent(write, uuid),
  );

/** Whether the page must know of the confirmation. A page that was open may miss it. Later pages read it from the disk. */
const isKnown = ({ history }: Stage, { at, by }: Confirmed, page: string): boolean =>
  page === by || history.loadOf(page) >= Math.min(at + SETTLING, history.departureOf(by, at));

/** Whether the browser sent the request with `fetchLater` as the page crashed. */
const isLeft = ({ history }: Stage, { at, from }: RequestRecord): boolean =>
  history.departures.some((left) => left.page === from && left.at === at && left.kind === 'crashes');

/** An event that a page sends although this page, or a page before it, has read that the event is confirmed. */
export const findSentAgain = (stage: Stage): string | undefined => {
  // If the app's transport rejects after it has read an answer, clew does not see the answer.
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
      if (isForgotten(stage, known, record.at) || isMissed(stage, known, record.at) || isUnseen(stage, known)) continue;
      if (isReplayedTwice(stage, known)) continue;
      return `${record.from} sends ${uuid} at ${record.at.toFixed(0)} ms, confirmed to ${known.by} at ${known.at.toFixed(0)} ms`;
    }
  return undefined;
};
