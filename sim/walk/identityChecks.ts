import { isBehindForged } from './callsChecks.ts';
import type { Identified } from './ledger.ts';
import { has, hasFaults, hasRefusals } from './plan.ts';
import type { Stage } from './stage.ts';

/** A crash so long (ms) after a change may lose it. */
const CRASH = 2000;
/** A kill so long (ms) after a change may lose it. */
const KILL = 10_000;

/** Trouble in which a page cannot learn who is identified, or cannot tell the next one. */
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

/** A person who is identified again although the page has to know who it is. */
export const findRepeatedIdentify = (stage: Stage): string | undefined => {
  const { plan, ledger, history } = stage;
  // A page that leaves before the database has answered may forget whom it has identified (issue 16).
  const isForgotten = ledger.identified.some(({ at, page }) => history.departureOf(page, at) < at + CRASH);
  // A service may take a $identify and reject it. The page then counts it as never sent.
  if (hasRefusals(plan) || has(plan, 'clearDatabase', ...FORGETFUL) || isForgotten) return undefined;
  for (const person of personsOf(stage)) {
    const count = Math.max(...servicesOf(stage).map((isOther) => countOf(stage, person, isOther)));
    const needed = ledger.identified.filter((call) => call.person === person && call.isNew).length;
    if (count > needed) return `$identify of ${person} ${count} times for ${needed} calls that need one`;
  }
  return undefined;
};

/** A person who was identified long before anything went wrong, and whom the service does not know. */
export const findLostIdentify = (stage: Stage): string | undefined => {
  const { plan, ledger, history } = stage;
  if (hasRefusals(plan) || has(plan, 'poison', 'clearDatabase') || (plan.isDirect && hasFaults(plan))) return undefined;
  const doubt = has(plan, 'kill') ? KILL : CRASH;
  const isLost = (call: Identified) => {
    const { at, page, person, isHeard, isOther: told } = call;
    return (
      isHeard &&
      !call.isForged &&
      !isBehindForged(stage, call) &&
      !history.refused.has(page) &&
      history.wasDiskFair(at - CRASH, at + doubt) &&
      // A clock that is set ahead by years expires it.
      history.wasClockFair(at, Number.POSITIVE_INFINITY) &&
      history.departureOf(page, at) > at + doubt &&
      servicesOf(stage).some((isOther) => (told ?? isOther) === isOther && !countOf(stage, person, isOther))
    );
  };
  const lost = ledger.identified.find(isLost);
  return lost && `$identify of ${lost.person}`;
};

/** What may change the visitor id, or take back that it was stored. */
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

/** An event that has another visitor id than one before it, although nobody has changed the visitor. */
export const findOtherId = ({ service, ledger, acts }: Stage): string | undefined => {
  const change = acts.find(({ verb }) => CHANGES.includes(verb))?.at ?? Number.POSITIVE_INFINITY;
  let id: string | undefined;
  for (const { payload, correlationValue } of service.stored) {
    const event = ledger.tracked.get(payload.n ?? 0);
    // An event that waits for the database goes to whoever is the visitor by then (issue 16).
    if (!event || event.isEarly || event.at >= change) continue;
    id ??= correlationValue;
    if (correlationValue !== id) return `event ${event.n} of ${event.page}`;
  }
  return undefined;
};
