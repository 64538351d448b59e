import { isOther } from '../server/addresses.ts';
import type { RequestRecord } from '../server/network.ts';
import { hasForged } from './callsChecks.ts';
import { FORGETFUL } from './identityChecks.ts';
import { has, hasRefusals, hidesAnswers } from './plan.ts';
import { isMissed } from './repeatChecks.ts';
import { handedOver, type Sending, sendingsOf } from './sent.ts';
import type { Stage } from './stage.ts';

/** How long (ms) before a departure everything must have worked, because an older request may still be open. */
const CALM = 25_000;

/**
 * Whether the walk lets a page forget its handovers, or lets the relay refuse or forget one. Without messages, a page may have an
 * event from a journal and not learn that it is confirmed. The page then leaves the event to the next page.
 */
const isExcused = (stage: Stage): boolean => {
  const { plan, history, consent } = stage;
  return (
    hasRefusals(plan) ||
    hasForged(stage) ||
    hidesAnswers(plan) ||
    !plan.features.hasChannel ||
    has(plan, 'poison', 'clearDatabase', 'restartRelay', 'changeKeys', 'kill', 'crash', ...FORGETFUL) ||
    history.refused.size > 0 ||
    consent.answers.length > 0
  );
};

/** Time (ms) after which all tabs know the outcome of a request. */
const SETTLING = 300;
/** How long (ms) a success proves the link. */
const PROVEN_FOR = 10 * 60_000;

/**
 * Whether this page knew at this time that the last request was confirmed, and the link was still proven. The page may not know of
 * requests that other tabs have sent since it was loaded.
 */
const isProven = ({ history }: Stage, sendings: readonly Sending[], page: string, at: number): boolean => {
  const loadedAt = history.loadOf(page);
  // After a failure of its own, as while it was offline, its next batch is smaller until an answer of its own.
  const own = sendings.findLast(({ record }) => record.from === page && record.at < at)?.record;
  if ((own && (own.end?.isFailed ?? true)) || !history.wasNetworkFair(own?.at ?? loadedAt, at)) return false;
  const known = sendings.flatMap(({ record: { from, at: sentAt, end } }) => {
    if (sentAt >= at || !end || end.at > at) return [];
    const left = history.departureOf(from, sentAt);
    // No page reads the answer to a request whose page has left. A listener of the answer may leave in the same moment. Later pages read
    // the link in the database, and a page that leaves soon may have had no time to store it.
    const isSeen = from === page ? left >= end.at : left >= end.at + SETTLING && end.at < loadedAt;
    return { ...end, isSeen };
  });
  const last = known.reduce(
    (latest, end) => (end.isSeen && !end.isFailed ? Math.max(latest, end.at) : latest),
    Number.NEGATIVE_INFINITY,
  );
  const isCalm = known.every(({ isFailed, at: ended }) => !isFailed || ended < at - CALM);
  return isCalm && last < at - SETTLING && last > at - PROVEN_FOR + SETTLING;
};

/**
 * Whether the page has been frozen since the event arrived, and sends before it has read the messages of that time. Another page may
 * have learned of the arrival only then, because the page of a handover reads no answer.
 */
const isThawing = ({ history }: Stage, page: string, arrivedAt: number, at: number): boolean =>
  history.freezes.some(({ page: frozen, to }) => frozen === page && to >= arrivedAt && at >= to && at < to + SETTLING);

/** An event that was handed over and has arrived, and that a later page sends again although no fault excuses it. */
export const findTwiceOnTheWire = (stage: Stage): string | undefined => {
  if (isExcused(stage)) return undefined;
  const { history, plan } = stage;
  const handed = handedOver(stage);
  const sendings = sendingsOf(stage);
  // A page cannot ask a service about a handover. Unless the link is proven, it keeps the events for a later page. The page also
  // keeps events in flight, whose answer no page reads.
  const isSure = ({ from, at, end, request }: RequestRecord) => {
    const left = history.departureOf(from, at);
    // Each service has a link of its own.
    const own = sendings.filter(({ record }) => isOther(record.request.url) === isOther(request.url));
    const isRead = left === at || left > (end?.at ?? 0);
    // In the back/forward cache, a page reads no link.
    const loadedAt = history.loadOf(from);
    const hasRead = history.departureOf(from, loadedAt) > loadedAt + SETTLING;
    return !plan.isDirect || (isRead && hasRead && isProven(stage, own, from, at));
  };
  const arrived = new Map<string, Sending>();
  for (const sending of sendings) {
    const { record, uuids } = sending;
    const { from, at, end } = record;
    for (const uuid of uuids) {
      const first = arrived.get(uuid);
      const since = first?.record.at ?? at;
      const isFair =
        history.wasNetworkFair(since - CALM, at) &&
        history.wasDiskFair(since - CALM, at) &&
        history.wasJournalFair(since - CALM, at) &&
        history.wasClockFair(since - CALM, at);
      const arrivedAt = first?.record.end?.at ?? at;
      // The simulated browser never sends a request again on its own.
      const isForgotten = isMissed(stage, { uuid, at: arrivedAt, by: '' }, at) || isThawing(stage, from, arrivedAt, at);
      if (first && isFair && !isForgotten && first.record.from !== from && arrivedAt < at)
        return `${from} sends ${uuid} at ${at.toFixed(0)} ms, which ${first.record.from} has handed over`;
      // An `$identify` with an expired token waits for a new token, and is sent again.
      const hasArrived = end && !end.isFailed && !end.expired.includes(uuid);
      if (!first && handed.has(uuid) && hasArrived && isSure(record)) arrived.set(uuid, sending);
    }
  }
  return undefined;
};
