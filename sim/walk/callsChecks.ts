import type { Identified } from './ledger.ts';
import { has, hasRefusals } from './plan.ts';
import type { Promised, Stage } from './stage.ts';

/** Longest back-off, in ms. */
const BACK_OFF = 600_000;
/** How long (ms) a crashed tab keeps the lease. */
const LEASE = 30_000;
/** How long (ms) after a call a crash may lose the call. */
const CRASH = 2000;
/** How long (ms) an older request may stay open. */
const CALM = 25_000;
/** How soon (ms) the other tabs and the database have a page's report of a dropped `$identify`. */
const SETTLING = 1000;

/** Whether an identity has a wrong signature, anywhere in the walk. */
export const hasForged = ({ ledger }: Stage): boolean => ledger.identified.some(({ isForged }) => isForged);

/** Whether nothing delays an event of `trackNow`: no fault, and no other tab. */
const mustArrive = (stage: Stage, { n, at, isAlone }: Extract<Promised, { kind: 'sent' }>): boolean => {
  const { history, ledger, plan } = stage;
  const call = ledger.tracked.get(n);
  if (!call || call.dropped || !call.isReceived || call.isEarly || !isAlone) return false;
  const since = call.at - LEASE;
  return (
    !has(plan, 'poison') &&
    !hasRefusals(plan) &&
    !hasForged(stage) &&
    history.wasNetworkFair(call.at - BACK_OFF, at) &&
    history.wasDiskFair(since, at) &&
    !stage.acts.some((act) => act.verb === 'kill' && act.at >= since && act.at <= at) &&
    !history.departures.some((left) => left.at >= since && left.at <= at)
  );
};

/** A `trackNow` that resolved before its event was confirmed, although nothing delayed the event. */
export const findTooSoon = (stage: Stage): string | undefined => {
  for (const one of stage.promised) {
    if (one.kind !== 'sent' || !mustArrive(stage, one)) continue;
    if (!stage.service.stored.some(({ payload, at }) => payload.n === one.n && at <= one.at))
      return `event ${one.n}, resolved at ${(one.at / 1000).toFixed(3)} s`;
  }
  return undefined;
};

/** An event without the visitor id to which `correlationValue` has just resolved, although no page has changed the visitor. */
export const findUnlikeId = ({ promised, service, ledger }: Stage, travel: number): string | undefined => {
  for (const one of promised) {
    if (one.kind !== 'id') continue;
    const { page = '' } = ledger.tracked.get(one.n) ?? {};
    const stored = service.stored.find(({ payload }) => payload.n === one.n);
    if (!stored || stored.correlationValue === one.id) continue;
    const isChanged =
      ledger.changedBy(one.called, one.at).includes(page) ||
      ledger.changedBy(one.at - travel, one.at).some((other) => other !== page);
    if (!isChanged) return `event ${one.n} of ${page} has ${stored.correlationValue}, promised was ${one.id}`;
  }
  return undefined;
};

/** A `$identify` that reached the service before any call had the right signature of the person. */
export const findForged = (stage: Stage): string | undefined => {
  const { service, ledger } = stage;
  for (const { event, payload, at } of service.stored) {
    if (event !== '$identify') continue;
    const isProven = ledger.identified.some(
      (call) => call.person === payload.distinct_id && !call.isForged && call.at <= at,
    );
    if (!isProven) return `$identify of ${payload.distinct_id}`;
  }
  return undefined;
};

/** How long (ms) after its load a page's database has answered at the latest, if the disk works. */
const ANSWER = 1000;
/** Whether another page has made its call before the database has answered the page of the first call. */
const isBeforeAnswer = ({ history }: Stage, call: Identified, other: Identified): boolean =>
  other.page !== call.page && other.at >= call.at && other.at - history.loadOf(call.page) < ANSWER;

/** A `$identify` that the relay has refused for its signature, and that no page has reported as dropped. */
export const findUnreported = (stage: Stage): string | undefined => {
  const { ledger, history, plan } = stage;
  if (hasRefusals(plan) || has(plan, 'poison', 'clearDatabase', 'kill')) return undefined;
  const silent = ledger.identified.find(
    (call, index) =>
      call.isForged &&
      call.isReceived &&
      // The page sends no `$identify` if another call has identified the person before this page's database has answered.
      !ledger.identified.some(
        (one, at) => one.person === call.person && (at < index || isBeforeAnswer(stage, call, one)),
      ) &&
      history.wasNetworkFair(call.at - CALM, call.at + CALM) &&
      history.wasDiskFair(call.at - CRASH, call.at + CRASH) &&
      history.departureOf(call.page, call.at) > call.at + CALM &&
      !history.refusals.some(
        ({ person, reason, at }) => person === call.person && reason === 'rejected' && at >= call.at,
      ),
  );
  return silent && `$identify of ${silent.person} by ${silent.page}`;
};

/**
 * Whether an earlier, forged `$identify` of the call's person may still be unanswered, so that the call need not send another.
 * The page sends another once it knows that the forged `$identify` was dropped.
 */
export const isBehindForged = ({ ledger, history }: Stage, { person, page, at }: Identified): boolean => {
  const forged = ledger.identified.findLast((call) => call.person === person && call.isForged && call.at <= at);
  if (!forged) return false;
  const known = history.refusals.findLast(
    (one) => one.person === person && one.at >= forged.at && one.at <= at - SETTLING,
  );
  if (!known) return true;
  return known.page !== page && history.wasAway(page, known.at, known.at);
};
