import { type NetworkRequest, type RequestRecord, textOf } from '../server/network.ts';
import { FORGETFUL } from './identityChecks.ts';
import { type Action, has, hidesAnswers } from './plan.ts';
import type { Stage } from './stage.ts';
import { mayBeTakenBack } from './unsaved.ts';

/** The database, or localStorage if the page leaves, has so soon (ms) which events are confirmed. */
const SETTLING = 300;
/** Trouble with the disk is over for clew so long (ms) after its end. */
const CALM = 5000;

/** A page has read that an event is confirmed. */
interface Confirmed {
  readonly at: number;
  readonly by: string;
}

interface SentEvent {
  readonly uuid?: string;
}

const eventsIn = (request: NetworkRequest): readonly SentEvent[] => {
  const body = JSON.parse(textOf(request)) as SentEvent & { readonly batch?: readonly SentEvent[] };
  return (body.batch ?? [body]).filter(({ uuid }) => uuid);
};

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
const isForgotten = (stage: Stage, { at, by }: Confirmed, to: number): boolean => {
  const { history, plan, acts } = stage;
  const left = history.departureOf(by, at);
  const isInTime = left <= at + SETTLING;
  if (history.refused.has(by) || (isInTime && mayBeTakenBack(stage, left))) return true;
  if (isInTime && history.wasJournalFair(left, to))
    return has(plan, ...FORGETFUL, 'clearDatabase') || acts.some((act) => isDeath(act.verb) && act.at >= at);
  const isCrashed = acts.some((act) => isDeath(act.verb) && act.at >= at && act.at <= at + SETTLING);
  return isCrashed || !history.wasDiskFair(at - CALM, to);
};

/**
 * A page was in the back/forward cache, and came back before the event was sent again. It may have had the event, also from the
 * journal of another page. It does not learn that it is confirmed, and stores it again.
 */
const isMissed = ({ history }: Stage, { at, by }: Confirmed, to: number): boolean =>
  history.restored(at, to).some((page) => page !== by && history.wasAway(page, at, at));

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
  const sent = stage.network.requests
    .filter(({ from }) => from.startsWith('page'))
    .map((record) => ({ record, events: eventsIn(record.request) }));
  for (const { record, events } of sent)
    for (const { uuid = '' } of events)
      if (isRead(stage, record) && !confirmed.has(uuid))
        confirmed.set(uuid, { at: record.end?.at ?? 0, by: record.from });
  for (const { record, events } of sent)
    for (const { uuid = '' } of events) {
      const known = confirmed.get(uuid);
      if (!known || record.at <= known.at || !isKnown(stage, known, record.from) || isLeft(stage, record)) continue;
      if (isForgotten(stage, known, record.at) || isMissed(stage, known, record.at)) continue;
      return `${record.from} sends ${uuid} at ${record.at.toFixed(0)} ms, confirmed to ${known.by} at ${known.at.toFixed(0)} ms`;
    }
  return undefined;
};
