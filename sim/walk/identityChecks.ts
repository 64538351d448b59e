import type { Stored } from '../server/service.ts';
import { isFullAt } from './boundChecks.ts';
import { isBehindForged } from './callsChecks.ts';
import type { Refused } from './history.ts';
import type { Identified } from './ledger.ts';
import { has, hasFaults, hasRefusals } from './plan.ts';
import type { Stage } from './stage.ts';

/** How long (ms) after a change a crash may lose the change. */
const CRASH = 2000;
/** How long (ms) after a change a kill may lose the change. */
const KILL = 10_000;

/** Faults in which a page cannot read who is identified, or cannot store it for the next page. */
export const FORGETFUL = ['fillDisk', 'limitStorage', 'refuseStorage', 'hangOpens', 'closeConnections'] as const;

/** How many different `$identify` of the person have reached one of the page's services. */
const countOf = ({ service }: Stage, person: string, isOther: boolean): number => {
  const mine = service.stored.filter(
    (stored) => stored.event === '$identify' && stored.payload.distinct_id === person && stored.isOther === isOther,
  );
  return new Set(mine.map(({ uuid }) => uuid)).size;
};

/** Which services each person is identified at. */
const servicesOf = ({ plan }: Stage): readonly boolean[] => (plan.npm?.hasOther ? [false, true] : [false]);

const personsOf = ({ ledger }: Stage): Set<string> => new Set(ledger.identified.map(({ person }) => person));

/** Ends the report if more than one page has learned that a `$identify` was refused: each of them may send it again. */
export const RESENT = ' (two tabs sent it again after a refusal)';

const isResent = ({ history }: Stage, person: string): boolean =>
  new Set(history.refusals.flatMap((one) => (one.person === person && one.reason === 'rejected' ? one.page : [])))
    .size > 1;

/** A person for whom a page sends `$identify` again although it has to know that the person is identified. */
export const findRepeatedIdentify = (stage: Stage): string | undefined => {
  const { plan, ledger, history } = stage;
  // A page that leaves before the database has answered may forget whom it has identified (issue 16).
  const isForgotten = ledger.identified.some(({ at, page }) => history.departureOf(page, at) < at + CRASH);
  // A service may take a $identify and reject it. The page then counts it as never sent.
  if (hasRefusals(plan) || has(plan, 'clearDatabase', ...FORGETFUL) || isForgotten) return undefined;
  for (const person of personsOf(stage)) {
    const count = Math.max(...servicesOf(stage).map((isOther) => countOf(stage, person, isOther)));
    const needed = ledger.identified.filter((call) => call.person === person && call.isNew).length;
    const why = isResent(stage, person) ? RESENT : '';
    if (count > needed) return `$identify of ${person} ${count} times for ${needed} calls that need one${why}`;
  }
  return undefined;
};

/** The calls of `identify` long before any fault, whose `$identify` has to reach the service. */
const sureCalls = (stage: Stage): readonly Identified[] => {
  const { plan, ledger, history } = stage;
  // Without a relay, a $identify that a page hands over counts as delivered.
  const isUnsure = plan.isDirect && (hasFaults(plan) || has(plan, 'kill', 'crash'));
  if (isUnsure || hasRefusals(plan) || has(plan, 'poison', 'clearDatabase')) return [];
  const doubt = has(plan, 'kill') ? KILL : CRASH;
  /** Whether pages may drop a `$identify` then: they have no room, or the visitor has set the clock ahead by years. */
  const mayDrop = ({ reason, at }: Refused) =>
    reason === 'expired'
      ? !history.wasClockFair(0, at)
      : reason === 'full' && isFullAt(stage, at, (event) => event.at <= at);
  /** A page has reported that it has dropped the `$identify` of this call, or of an earlier one. */
  const isReported = (call: Identified) =>
    history.refusals.some((refused) => refused.person === call.person && refused.at >= call.at && mayDrop(refused));
  return ledger.identified.filter((call) => {
    const { at, page, isReceived } = call;
    return (
      isReceived &&
      !call.isForged &&
      !isBehindForged(stage, call) &&
      !isReported(call) &&
      !history.refused.has(page) &&
      history.wasDiskFair(at - CRASH, at + doubt) &&
      // A refusal erases a `$identify` that waits.
      !stage.consent.answers.some((answer) => !answer.isGranted && answer.at > at - CRASH) &&
      history.wasClockFair(at, Number.POSITIVE_INFINITY) &&
      history.departureOf(page, at) > at + doubt
    );
  });
};

/** A person whom the service does not know, or an event of that person whose visitor id no `$identify` has given to the person. */
export const findLostIdentify = (stage: Stage): string | undefined => {
  const { service, ledger } = stage;
  for (const { page, person, isOther: own, change } of sureCalls(stage)) {
    if (servicesOf(stage).some((isOther) => (own ?? isOther) === isOther && !countOf(stage, person, isOther)))
      return `$identify of ${person}`;
    /** Whether the page has tracked it for this person, and no call has changed the person since. */
    const isTheirs = ({ payload, isOther }: Stored) => {
      const event = ledger.tracked.get(payload.n ?? 0);
      return (
        event?.page === page && event.change === change && (own ?? isOther) === isOther && event.persons.size === 1
      );
    };
    for (const stored of service.stored.filter(isTheirs)) {
      const isLinked = service.stored.some(
        ({ event, payload, correlationValue, isOther }) =>
          event === '$identify' &&
          payload.distinct_id === person &&
          correlationValue === stored.correlationValue &&
          isOther === stored.isOther,
      );
      if (!isLinked) return `event ${stored.payload.n} of ${page} is not linked to ${person}`;
    }
  }
  return undefined;
};

/** Verbs that may change the visitor id, or undo that it was stored. */
const CHANGES: readonly string[] = [
  'identify',
  'identifyAndLeave',
  'identifyInTurn',
  'reset',
  'resetAndLeave',
  'listen',
  'consent',
  'refuseAndGrant',
  'refuseAndLeave',
  'clearDatabase',
  'kill',
  ...FORGETFUL,
];

/** An event with another visitor id than an earlier event, although no action has changed the visitor. */
export const findOtherId = ({ service, ledger, acts }: Stage): string | undefined => {
  const change = acts.find(({ verb }) => CHANGES.includes(verb))?.at ?? Number.POSITIVE_INFINITY;
  let id: string | undefined;
  for (const { payload, correlationValue } of service.stored) {
    const event = ledger.tracked.get(payload.n ?? 0);
    // An event that waits for the database gets the visitor id of the time when the database answers (issue 16).
    if (!event || event.isEarly || event.at >= change) continue;
    id ??= correlationValue;
    if (correlationValue !== id) return `event ${event.n} of ${event.page}`;
  }
  return undefined;
};
