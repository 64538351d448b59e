import type { Service, Stored } from '../server/service.ts';
import { findHoard, isFullFor } from './boundChecks.ts';
import { findForged, findTooSoon, findUnlikeId, findUnreported, hasForged } from './callsChecks.ts';
import { findWrongClock } from './clockChecks.ts';
import { looksRefused, mayBeDropped } from './consent.ts';
import { findSentAfterRefusal, findSentByRefusing, findUndead, findWithoutAnswer } from './consentChecks.ts';
import {
  findChanged,
  findDisorder,
  findDisorderOfPages,
  findFalseRejection,
  findKeptAtDeparture,
  findRevived,
  findSecondId,
  findStaleProperties,
  findWrongTime,
  isTooOld,
  isUncorrected,
} from './deliveryChecks.ts';
import { whyRepeated } from './directRepeats.ts';
import { findLostEarly } from './earlyChecks.ts';
import { findLostIdentify, findOtherId, findRepeatedIdentify } from './identityChecks.ts';
import type { Tracked } from './ledger.ts';
import { isExcused } from './losses.ts';
import { hasRefusals } from './plan.ts';
import { findSentAgain } from './repeatChecks.ts';
import { checkRequests } from './requestChecks.ts';
import { wasRejected } from './sent.ts';
import { findEndedTwice, findUnconfirmed, findUnlikeSignal } from './signalChecks.ts';
import { MESSAGE_TRAVEL, type Stage } from './stage.ts';
import { mayBeUndone, UNDONE } from './unsaved.ts';
import { findTwiceOnTheWire } from './wireChecks.ts';

/** The names of the invariants, as reports print them. */
export const INVARIANTS = {
  account: 'tracked = delivered + queued + dropped',
  lost: 'no event is lost without a reason',
  dropped: 'an event is dropped only if the walk gives a reason',
  twice: 'an event is stored once',
  again: 'a confirmed event is not sent again',
  wire: 'an event that was handed over and has arrived is not sent again',
  person: 'a visitor id belongs to one person',
  logout: 'an event goes to the person who was identified when it was tracked',
  flush: 'flush(), trackNow() and correlationValue() settle',
  now: 'trackNow() resolves once its event is confirmed, dropped or waiting',
  promised: 'correlationValue() is the id of the events that follow',
  forged: 'nobody is identified without the right signature',
  unreported: 'a $identify with a wrong signature is reported as rejected',
  error: 'no exception reaches the page',
  storage: 'everything delivered is deleted',
  retryAfter: 'a pause that the service asks for is kept',
  backOff: 'requests that fail one after the other are spread',
  lease: 'one tab sends at a time',
  handover: 'a page that leaves hands over what it has',
  order: 'events of a page arrive in order',
  properties: 'a customer has the latest properties',
  early: 'properties that are set before identify reach the customer',
  rejected: 'only an event that is refused is dropped as rejected',
  id: 'an event keeps its id',
  payload: 'an event keeps its name and its payload',
  time: 'an event keeps its time',
  clock: 'the time of an event is true at the service, and in the order of the calls',
  same: 'a visitor keeps the visitor id until somebody changes it',
  identify: '$identify is sent only where the person is new',
  pages: 'what an earlier page has stored arrives first',
  idle: 'an open page delivers what it has',
  before: 'nothing is stored or sent before consent',
  left: 'a refusal leaves nothing behind',
  sent: 'nothing is sent after a refusal',
  silent: 'a page that knows of a refusal sends nothing',
  undead: 'nothing that is tracked after a refusal arrives',
  filtered: 'an event that beforeSend drops is never sent',
  trickle: 'while events trickle in, requests are one per flushInterval',
  bounds: 'a page holds no more than it may',
  memory: 'a page keeps in memory no more than a browser takes as it leaves',
  stored: 'the origin stores no more than its pages may hold',
  prerendered: 'a prerendered page sends and stores nothing',
  revived: 'what is dropped does not arrive',
  counted: 'stats() counts what the signals delivered and dropped have',
  unconfirmed: 'an event is emitted as delivered once the service has confirmed it',
  ended: 'a page emits the end of an event once',
  unlike: 'the signal delivered has the event that the service has',
  queued: 'nothing is queued once all events have ended',
} as const;

/** Numbers of the events and properties that have reached the service. */
const arrivedIn = ({ stored, upserted }: Service): Set<number> =>
  new Set([...stored.flatMap(({ payload }) => payload.n ?? []), ...upserted.keys()]);

/** Ends the report of an event that its page tracked before the database had answered. */
export const EARLY = ' (its page was asking the database)';

const checkPersons = (stage: Stage): void => {
  const { service, ledger, world } = stage;
  const owners = new Map<string, string>();
  /** Visitor ids of two persons, which `INVARIANTS.person` reports. */
  const shared = new Set<string>();
  // Each service has customers of its own, and may know the same visitor by another key.
  const undone = (...persons: readonly string[]) => (mayBeUndone(stage, persons) ? UNDONE : '');
  const reasonOf = ({ isEarly, persons }: Tracked, owner: string) => (isEarly ? EARLY : undone(owner, ...persons));
  const nameOf = ({ correlationValue, isOther }: Stored) => `${correlationValue}${isOther ? ' (other)' : ''}`;
  for (const stored of service.stored) {
    if (stored.event !== '$identify') continue;
    const person = `${stored.payload.distinct_id}`;
    const owner = owners.get(nameOf(stored)) ?? person;
    if (owner !== person) shared.add(nameOf(stored));
    if (owner !== person)
      world.break(INVARIANTS.person, `${nameOf(stored)}: ${owner} and ${person}${undone(owner, person)}`);
    owners.set(nameOf(stored), owner);
  }
  for (const stored of service.stored) {
    const event = ledger.tracked.get(stored.payload?.n ?? 0);
    const owner = owners.get(nameOf(stored)) ?? '';
    if (event && !shared.has(nameOf(stored)) && !ledger.owners(event).has(owner))
      world.break(
        INVARIANTS.logout,
        `event ${event.n} of ${[...event.persons].map((name) => name || 'nobody')} went to ${owner}${reasonOf(event, owner)}`,
      );
  }
  for (const [n, keys] of service.upserted) {
    const call = ledger.tracked.get(n);
    for (const key of keys)
      if (call && !shared.size && !ledger.owners(call).has(key))
        world.break(INVARIANTS.logout, `properties ${n} of ${[...call.persons]} went to ${key}${reasonOf(call, key)}`);
  }
};

/**
 * Whether properties may have no customer. The properties waited for the database, which did not answer, or another tab has
 * changed the person meanwhile.
 */
const isOrphaned = ({ ledger, history }: Stage, { name, page, isEarly, change }: Tracked): boolean =>
  name === 'upsert' && isEarly && (ledger.changes() > change || history.shut.has(page));

/** Takes the first report of the page after this call out of the list. Returns whether there was one. */
const takeReport = (reports: { readonly page: string; readonly at: number }[], { page, at }: Tracked): boolean => {
  const index = reports.findIndex((report) => report.page === page && report.at >= at);
  return index >= 0 && !!reports.splice(index, 1);
};

/** Runs once the walk has recovered: checks every event and request. */
export const checkEnd = (stage: Stage): void => {
  const { service, ledger, world, flushes, plan } = stage;
  const arrived = arrivedIn(service);
  const overflows = [...stage.history.overflows];
  for (const event of ledger.tracked.values()) {
    if (event.name === 'early') continue;
    // Properties that the service rejects are reported by an error, not as a dropped event.
    const isRejected = event.name === 'upsert' && (hasRefusals(plan) || hasForged(stage));
    // The tracker replays the stub's calls before the page listens for dropped events.
    const isUnheard = !event.isReceived && isFullFor(stage, event.n);
    if (
      arrived.has(event.n) ||
      event.dropped ||
      event.name === 'poison' ||
      isExcused(stage, event) ||
      isRejected ||
      isUnheard ||
      isOrphaned(stage, event) ||
      (event.name === 'upsert' && isFullFor(stage, event.n) && takeReport(overflows, event))
    )
      continue;
    world.break(
      INVARIANTS.lost,
      `${event.name} ${event.n} of ${event.page}, tracked at ${(event.at / 1000).toFixed(3)} s`,
    );
  }
  for (const event of ledger.tracked.values()) {
    const { n, name, at, dropped, droppedAt } = event;
    const isExpected =
      (dropped === 'rejected' &&
        (name === 'poison' ||
          wasRejected(stage, n) ||
          isTooOld(stage, at, droppedAt) ||
          isUncorrected(stage, event))) ||
      (dropped === 'full' && isFullFor(stage, n)) ||
      // The visitor has set the clock ahead, by years.
      (dropped === 'expired' && !stage.history.wasClockFair(0, world.scheduler.now())) ||
      (dropped === 'consent' && (mayBeDropped(stage, event) || looksRefused(stage, event))) ||
      // The app's `beforeSend` has dropped the event.
      dropped === 'filtered';
    if (dropped && !isExpected) world.break(INVARIANTS.dropped, `event ${n}: ${dropped}`);
    if (dropped === 'filtered' && arrived.has(n)) world.break(INVARIANTS.filtered, `event ${n}`);
  }
  const confirmed = new Map<string, number>();
  for (const { uuid, event, payload, isConfirmed, at } of service.stored) {
    // A page has to send an event again until it reads a success.
    if (!isConfirmed) continue;
    const before = confirmed.get(uuid) ?? Number.POSITIVE_INFINITY;
    // Without a relay, a kill may bring back calls of the stub that a page has replayed: the docs name the limit.
    const isRevived = stage.plan.isDirect && stage.history.wasRevived(uuid, before, at);
    if (before <= at && !isRevived)
      world.break(INVARIANTS.twice, `${event} ${payload?.n ?? ''} was confirmed twice${whyRepeated(stage, uuid)}`);
    confirmed.set(uuid, at);
  }
  checkPersons(stage);
  for (const { page } of flushes.values()) if (page.state === 'running') world.break(INVARIANTS.flush, page.name);
  const found: Partial<Record<keyof typeof INVARIANTS, string | undefined>> = {
    ...checkRequests(stage),
    handover: findKeptAtDeparture(stage),
    order: findDisorder(stage),
    properties: findStaleProperties(stage),
    early: findLostEarly(stage),
    rejected: findFalseRejection(stage),
    id: findSecondId(stage),
    payload: findChanged(stage),
    time: findWrongTime(stage),
    clock: findWrongClock(stage),
    same: findOtherId(stage),
    identify: findRepeatedIdentify(stage),
    lost: findLostIdentify(stage),
    pages: findDisorderOfPages(stage),
    before: findWithoutAnswer(stage),
    sent: findSentAfterRefusal(stage),
    silent: findSentByRefusing(stage),
    undead: findUndead(stage, arrived),
    revived: findRevived(stage),
    again: findSentAgain(stage),
    wire: findTwiceOnTheWire(stage),
    memory: findHoard(stage),
    now: findTooSoon(stage),
    promised: findUnlikeId(stage, plan.features.hasChannel ? MESSAGE_TRAVEL : Number.POSITIVE_INFINITY),
    forged: findForged(stage),
    unreported: findUnreported(stage),
    unconfirmed: findUnconfirmed(stage),
    ended: findEndedTwice(stage),
    unlike: findUnlikeSignal(stage),
  };
  for (const [name, detail] of Object.entries(found))
    if (detail) world.break(INVARIANTS[name as keyof typeof INVARIANTS], detail);
  // Properties of a customer whose `$identify` was dropped wait for the next `identify()`, also those that a page has handed over before.
  const waiting = stage.history.refusals[0] ? stage.inEarly() : new Set<number>();
  const left = [...stage.onDisk()].filter((n) => arrived.has(n) && !waiting.has(n));
  if (left[0] !== undefined) world.break(INVARIANTS.storage, `still stored: ${left.slice(0, 10)}`);
};

/** Whether every event has arrived or is excused, and every promise has settled. */
export const isSettled = (stage: Stage): boolean => {
  const { service, ledger, flushes, onDisk, app } = stage;
  const arrived = arrivedIn(service);
  for (const event of ledger.tracked.values())
    if (
      !['poison', 'early'].includes(event.name) &&
      !arrived.has(event.n) &&
      !event.dropped &&
      !isExcused(stage, event)
    )
      return false;
  for (const { page } of flushes.values()) if (page.state === 'running') return false;
  for (const page of app.trickling) if (page.state === 'running') return false;
  return onDisk().size === 0 && !findLostIdentify(stage) && !findLostEarly(stage);
};
