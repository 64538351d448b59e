import { isOther } from '../server/addresses.ts';
import type { RequestRecord } from '../server/network.ts';
import { hasForged } from './callsChecks.ts';
import { FORGETFUL } from './identityChecks.ts';
import { has, hasRefusals, hidesAnswers } from './plan.ts';
import { isMissed } from './repeatChecks.ts';
import { handedOver, type Sending, sendingsOf } from './sent.ts';
import type { Stage } from './stage.ts';

/** So long (ms) before a departure all must have worked: an older request may still be under way. */
const CALM = 25_000;

/**
 * Something in the walk lets a page forget its handovers, or lets the relay refuse or forget one. Without messages, a page that has taken
 * an event in from a journal does not learn that another one was told, and leaves it to the next page.
 */
const isExcused = (stage: Stage): boolean => {
  const { plan, history, consent } = stage;
  return (
    hasRefusals(plan) ||
    hasForged(stage) ||
    hidesAnswers(plan) ||
    !plan.features.hasChannel ||
    has(plan, 'poison', 'clearDatabase', 'restartRelay', 'kill', 'crash', ...FORGETFUL) ||
    history.refused.size > 0 ||
    consent.answers.length > 0
  );
};

/** The link was settled so long (ms) before a departure that all tabs know it. */
const SETTLING = 300;
/** So long (ms) a success proves the link. */
const PROVEN_FOR = 10 * 60_000;

/** Whether every tab of the origin knew at this time that the last request was confirmed, a moment and not long ago. */
const isProven = (sendings: readonly Sending[], at: number): boolean => {
  const known = sendings.flatMap(({ record: { at: from, end } }) => (from < at && end && end.at <= at ? end : []));
  const last = known.reduce((latest, end) => Math.max(latest, end.at), Number.NEGATIVE_INFINITY);
  const isCalm = known.every(({ isFailed, at: ended }) => !isFailed || ended < at - CALM);
  return isCalm && last < at - SETTLING && last > at - PROVEN_FOR + SETTLING;
};

/** An event that was handed over and has arrived, and that a later page sends all the same, although nothing stood in its path. */
export const findTwiceOnTheWire = (stage: Stage): string | undefined => {
  if (isExcused(stage)) return undefined;
  const { history, plan } = stage;
  const handed = handedOver(stage);
  const sendings = sendingsOf(stage);
  // A service cannot be asked: what a page hands over on another link it keeps, and a later page sends it again.
  const isSure = ({ from, at, request }: RequestRecord) => {
    // Each service has a link of its own.
    const own = sendings.filter(({ record }) => isOther(record.request.url) === isOther(request.url));
    return !plan.isDirect || (history.loadOf(from) < at - SETTLING && isProven(own, at));
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
      // A browser repeats no request of its own in the simulation.
      const isForgotten = isMissed(stage, { uuid, at: arrivedAt, by: '' }, at);
      if (first && isFair && !isForgotten && first.record.from !== from && arrivedAt < at)
        return `${from} sends ${uuid} at ${at.toFixed(0)} ms, which ${first.record.from} has handed over`;
      if (!first && handed.has(uuid) && end && !end.isFailed && isSure(record)) arrived.set(uuid, sending);
    }
  }
  return undefined;
};
