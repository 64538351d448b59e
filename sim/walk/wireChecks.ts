import { FORGETFUL } from './identityChecks.ts';
import { has, hasRefusals, hidesAnswers } from './plan.ts';
import { handedOver, type Sending, sendingsOf } from './sent.ts';
import type { Stage } from './stage.ts';

/** So long (ms) before a departure all must have worked: an older request may still be under way. */
const CALM = 25_000;

/** Something in the walk lets a page forget its handovers, or lets the relay refuse or forget one. */
const isExcused = ({ plan, history, consent }: Stage): boolean =>
  plan.isDirect ||
  hasRefusals(plan) ||
  hidesAnswers(plan) ||
  has(plan, 'poison', 'clearDatabase', 'restartRelay', 'kill', 'crash', ...FORGETFUL) ||
  history.refused.size > 0 ||
  consent.answers.length > 0;

/** An event that was handed over and has arrived, and that a later page sends all the same, although nothing stood in its path. */
export const findTwiceOnTheWire = (stage: Stage): string | undefined => {
  if (isExcused(stage)) return undefined;
  const { history } = stage;
  const handed = handedOver(stage);
  const arrived = new Map<string, Sending>();
  for (const sending of sendingsOf(stage)) {
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
      // A browser repeats no request of its own in the simulation.
      if (first && isFair && first.record.from !== from && (first.record.end?.at ?? 0) < at)
        return `${from} sends ${uuid} at ${at.toFixed(0)} ms, which ${first.record.from} has handed over`;
      if (!first && handed.has(uuid) && end && !end.isFailed) arrived.set(uuid, sending);
    }
  }
  return undefined;
};
