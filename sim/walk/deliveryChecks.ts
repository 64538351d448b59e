import { isOther } from '../server/addresses.ts';
import type { Stored } from '../server/service.ts';
import { EPOCH } from '../world/world.ts';
import { isEndedByConsent, releasedAt } from './consent.ts';
import type { Refused } from './history.ts';
import { payloadOf, type Tracked } from './ledger.ts';
import { isCut } from './losses.ts';
import { has, hasRefusals, type Plan } from './plan.ts';
import { handedOver, sendingsOf, wasRefused, wasSentWithoutClock } from './sent.ts';
import type { Stage } from './stage.ts';
import { mayBeTakenBack } from './unsaved.ts';

/** How soon (ms) a handover arrives at the service. */
const HANDOVER = 2000;
/** How long (ms) before a departure the network must have worked, because an older request may still be open. */
const CALM = 25_000;
/** How long (ms) after the end of a relay the events of its open requests stay reserved. */
const RESERVED = 70_000;
/** How soon (ms) a page has asked its database and stored a tracked event. */
const STORING = 1000;
/** Bytes that a browser sends at least for a page that leaves. */
const MOST_HANDED = 40_000;

/** The relay rejects an event that is older (ms): its default of `maxPast`. */
const MAX_PAST = 60 * 86_400_000;
/** How far ahead (ms) of its clock the relay takes the time of an event. */
const MAX_FUTURE = 86_400_000;

/** Whether the visitor has set the clock so far ahead since the call that the relay cannot know that the event is young. */
export const isTooOld = ({ history }: Stage, at: number, droppedAt = at): boolean =>
  history.skewAt(droppedAt) - history.leastSkewAt(at) > MAX_PAST;

/** Whether the relay had no clock to correct the time of an event that the visitor's clock has dated years ahead or back. The docs name the limit. */
export const isUncorrected = (stage: Stage, { n, at }: Tracked): boolean => {
  const { plan, history } = stage;
  const isFar = history.leastSkewAt(at) < -MAX_PAST || history.skewAt(at) > MAX_FUTURE;
  return hasRefusals(plan) && isFar && wasSentWithoutClock(stage, n);
};

/** The first copy of each event at the service, by its number. */
const firstCopies = ({ service }: Stage): Map<number, Stored> => {
  const copies = new Map<number, Stored>();
  for (const stored of service.stored) {
    const { n } = stored.payload;
    if (n !== undefined && !copies.has(n)) copies.set(n, stored);
  }
  return copies;
};

/**
 * Whether the event is behind a `setProperties` without a known customer, because the database had not answered. The page
 * leaves both to the next page. The stub of an earlier page may have left that call.
 */
const isBehindUpsert = ({ history }: Stage, { page, at, isEarly }: Tracked): boolean => {
  const unloaded = history.departures.flatMap((left) => (left.isLoaded ? [] : left.page));
  return isEarly && [page, ...unloaded].some((one) => history.wasUpserted(one, 0, at));
};

/** How long (ms) after a failure a page may still avoid the service. clew waits for up to an hour. */
const FAILING = 70 * 60_000;

/** How long (ms) a page may take to learn of an answer to another tab. */
const LEARNING = 1000;

/**
 * Whether the last answer of one of the page's services before this time was a failure. The answer to a handover does not count, because
 * no page reads it.
 */
const hasFailed = ({ network, history }: Stage, at: number): boolean =>
  [false, true].some((isSecond) => {
    const ends = network.requests.flatMap(({ from, at: sent, end, request: { url } }) =>
      end &&
      isOther(url) === isSecond &&
      end.at <= at &&
      end.at > at - FAILING &&
      history.departureOf(from, sent) > end.at
        ? end
        : [],
    );
    return !!ends.toSorted((one, other) => one.at - other.at).at(-1)?.isFailed;
  });

/** An event that a page had when it left, and that did not arrive soon although no fault delayed it. */
export const findKeptAtDeparture = (stage: Stage): string | undefined => {
  const { plan, history, ledger } = stage;
  if (has(plan, 'poison')) return undefined;
  const calm = has(plan, 'restartRelay', 'changeKeys') ? RESERVED : CALM;
  const copies = firstCopies(stage);
  for (const { page, at, kind, isLoaded } of history.departures) {
    if (kind !== 'leaves' || !isLoaded || !history.wasNetworkFair(at - calm, at + HANDOVER)) continue;
    // A page keeps its events if the service itself, without a relay that drops duplicates, has failed.
    if (plan.isDirect && (hasFailed(stage, at) || hasFailed(stage, at - LEARNING))) continue;
    if (isCut(stage, at, at + HANDOVER)) continue;
    // The walk has ended before the handover could arrive.
    if (stage.world.scheduler.now() < at + HANDOVER) continue;
    // If the page came back and left again within a millisecond, its events and departures have no order.
    if (history.departures.filter((left) => left.page === page && left.at === at).length > 1) continue;
    const verbs = stage.acts.filter((act) => act.at === at).map(({ verb }) => verb);
    const isBack = verbs.lastIndexOf('back') > verbs.findIndex((verb) => /AndLeave|navigate|back/.test(verb));
    const own = [...ledger.tracked.values()].filter(
      (event) =>
        event.page === page &&
        !(isBack && event.at === at) &&
        releasedAt(stage, event) <= at &&
        event.isReceived &&
        event.name === 'walk' &&
        !isBehindUpsert(stage, event) &&
        !isEndedByConsent(stage, event),
    );
    const due = own.filter(({ n }) => (copies.get(n)?.at ?? Number.POSITIVE_INFINITY) > at);
    const late = due.find(
      ({ n, at: tracked, dropped }) =>
        !dropped && history.wasNetworkFair(tracked - CALM, at) && (copies.get(n)?.at ?? 1e15) > at + HANDOVER,
    );
    // A page that is back from the back/forward cache may not know yet that other pages have sent its events.
    const earlier = history.departures.filter((left) => left.page === page && left.at < at);
    const isOld = (event: Tracked) => event.page === page && earlier.some((left) => left.at >= event.at);
    // Other pages' events count, too: the page may have adopted them, or wait for the answer to them.
    const waiting = [...ledger.tracked.values()].filter(
      (event) => event.at <= at && (isOld(event) || (copies.get(event.n)?.at ?? 1e15) > at - CALM),
    );
    const bytes = waiting.reduce((sum, { size }) => sum + size + 400, 0);
    if (late && bytes <= MOST_HANDED) return `event ${late.n} of ${page}, which left at ${(at / 1000).toFixed(3)} s`;
  }
  return undefined;
};

/** Ids of events that a page has sent to which the browser refuses IndexedDB. The page does not see what is stored. */
const sentWithoutStore = (stage: Stage): ReadonlySet<string> =>
  new Set(sendingsOf(stage).flatMap(({ record, uuids }) => (stage.history.refused.has(record.from) ? uuids : [])));

/** Two events of one page that arrived in another order than they were tracked. */
export const findDisorder = (stage: Stage): string | undefined => {
  const { plan, history, ledger, service, consent } = stage;
  if (has(plan, 'poison')) return undefined;
  const copies = firstCopies(stage);
  const handed = handedOver(stage);
  const storeless = sentWithoutStore(stage);
  const places = new Map([...copies.values()].map((copy) => [copy, service.stored.indexOf(copy)]));
  const last = new Map<string, { n: number; place: number }>();
  for (const { n, page, isReceived, isOther, at, dropped } of ledger.tracked.values()) {
    const copy = copies.get(n);
    if (!copy || !isReceived || dropped || !history.wasDiskFair(at - CALM, copy.at)) continue;
    // A refusal deletes the rows of this page. Without BroadcastChannel, the page does not know, and stores them again later.
    if (consent.answers.some((answer) => !answer.isGranted && answer.at >= at && answer.at <= copy.at)) continue;
    if (wasRefused(stage, n)) continue;
    // A handover may overtake a request in flight.
    if (history.departureOf(page, 0) <= copy.at && handed.has(copy.uuid)) continue;
    // A page without the store has taken in the journal of this one.
    if (!history.refused.has(page) && storeless.has(copy.uuid)) continue;
    const place = places.get(copy) ?? 0;
    const tracker = `${page} ${!!isOther}`;
    const before = last.get(tracker);
    if (before && place < before.place) return `${page}: event ${n} before event ${before.n}`;
    last.set(tracker, { n, place });
  }
  return undefined;
};

/** Whether the call may arrive again, and late, because of a crash, a kill, the disk or the network. */
const mayComeLate = (stage: Stage, { page, at }: Tracked, arrived: number): boolean => {
  const { history, plan } = stage;
  const left = history.departureOf(page, at);
  const isTakenBack = mayBeTakenBack(stage, at) || mayBeTakenBack(stage, left);
  const isSlow = plan.isDirect && !history.wasNetworkFair(at - CALM, arrived);
  return isTakenBack || isSlow || history.refused.has(page) || !history.wasDiskFair(at - CALM, arrived);
};

/** Journals of two pages that leave within this time (ms) have no order. */
const MOMENT = 1;

/** Whether the service may take properties twice, because their page does not learn that it has taken them. */
const mayTakeTwice = (plan: Plan): boolean =>
  plan.isDirect ||
  plan.steps.some(({ action }) => action.verb === 'service' && action.takes) ||
  // A relay that restarts forgets its handovers.
  has(plan, 'restartRelay', 'changeKeys');

/** Properties of a customer that an older call has overwritten, of the same page or of one that had left before the page loaded. */
export const findStaleProperties = (stage: Stage): string | undefined => {
  const { plan, history, ledger, service } = stage;
  if (has(plan, 'clearDatabase')) return undefined;
  for (const [place, { n, key, at }] of service.upserts.entries()) {
    const call = ledger.tracked.get(n);
    if (!call) continue;
    const isNewer = (other: Tracked) =>
      other.n > n &&
      // Without a relay, a handover is not queued any more, and later properties may pass it: also those of its page, if it comes back.
      (other.page === call.page
        ? !plan.isDirect || history.departureOf(call.page, call.at) >= other.at
        : !plan.isDirect &&
          other.at - call.at >= MOMENT &&
          history.departureOf(other.page, other.at) - history.departureOf(call.page, call.at) >= MOMENT &&
          history.departureOf(call.page, call.at) <= history.loadOf(other.page));
    const newer = service.upserts.slice(0, place).flatMap((before) => {
      const other = before.key === key ? ledger.tracked.get(before.n) : undefined;
      return other && isNewer(other) ? other : [];
    });
    // Without a relay, a page may send all properties of a handover again, in order. The page also does so if the service took
    // them and answered with a failure. The last ones count.
    const isAgain = ({ n: before }: Tracked) =>
      mayTakeTwice(plan) && service.upserts.slice(place).some((later) => later.n === before && later.key === key);
    const stale = newer.find((other) => !isAgain(other));
    // The early calls of such a page wait for the database's answer, as those of an open tab.
    const isBack = call.isEarly && history.restored(call.at, at).includes(call.page);
    if (stale && !isBack && !mayComeLate(stage, call, at))
      return `${call.page}: properties ${n} after properties ${stale.n} of ${stale.page}`;
  }
  return undefined;
};

/** Whether the event arrived only by requests that its page sent as it left. */
const isHandedOver = (stage: Stage, { uuid, at }: Stored, page: string, left: number): boolean =>
  sendingsOf(stage)
    .filter(({ record, uuids }) => record.at <= at && uuids.includes(uuid))
    .every(({ record }) => record.from === page && record.at >= left);

/** An event of a later page that arrived before an event that an earlier page had stored. */
export const findDisorderOfPages = (stage: Stage): string | undefined => {
  const { plan, history, ledger, service, consent } = stage;
  if (has(plan, 'poison', 'clearDatabase')) return undefined;
  const copies = firstCopies(stage);
  const places = new Map(service.stored.map((copy, place) => [copy, place]));
  const events = [...ledger.tracked.values()].flatMap((event) => {
    const copy = copies.get(event.n);
    const isDue = copy && event.isReceived && !event.isEarly && !wasRefused(stage, event.n);
    return isDue ? [{ ...event, copy, place: places.get(copy) ?? 0 }] : [];
  });
  for (const old of events) {
    const gone = history.departureOf(old.page, old.at);
    if (gone < old.at + STORING || history.departureOf(old.page, 0) !== gone) continue;
    for (const young of events) {
      if (young.isOther !== old.isOther) continue;
      if (history.loadOf(young.page) <= gone || young.at < history.loadOf(young.page) + STORING) continue;
      if (history.departureOf(young.page, 0) <= young.copy.at) continue;
      if (young.place > old.place) continue;
      // A refusal ends the visitor. A request in flight may still arrive, after the events of the next visitor.
      if (consent.answers.some(({ at, isGranted }) => !isGranted && at >= old.at && at <= young.at)) continue;
      // Without a relay, handed-over events may not be queued any more. On a slow network later events overtake them.
      const isSlow = plan.isDirect && !history.wasNetworkFair(gone, old.copy.at);
      if (isSlow && isHandedOver(stage, old.copy, old.page, gone)) continue;
      if (history.wasDiskFair(old.at - CALM, young.copy.at))
        return `event ${young.n} before event ${old.n} of ${old.page}`;
    }
  }
  return undefined;
};

/** An event that was dropped as rejected although the service refused nothing, or the `$identify` of a person with the right signature. */
export const findFalseRejection = (stage: Stage): string | undefined => {
  const { plan, ledger, history } = stage;
  if (hasRefusals(plan)) return undefined;
  const isForged = (person: string) => ledger.identified.some((call) => call.person === person && call.isForged);
  const isDue = ({ person, at }: Refused) =>
    !isForged(person) &&
    !ledger.identified.some((call) => call.person === person && call.at <= at && isTooOld(stage, call.at, at));
  const refused = history.refusals.find((one) => one.reason === 'rejected' && isDue(one));
  if (refused && !has(plan, 'poison')) return `$identify of ${refused.person}`;
  for (const { n, name, dropped, at, droppedAt } of ledger.tracked.values())
    if (dropped === 'rejected' && name !== 'poison' && !isTooOld(stage, at, droppedAt)) return `event ${n}`;
  return undefined;
};

/** An event that a page dropped for the reason `full`, and that arrived. A crash may bring back a journal with the event. */
export const findRevived = (stage: Stage): string | undefined => {
  const copies = firstCopies(stage);
  for (const { n, dropped, droppedAt = 0 } of stage.ledger.tracked.values())
    if (dropped === 'full' && copies.has(n) && !mayBeTakenBack(stage, droppedAt)) return `event ${n}`;
  return undefined;
};

/** An event that the service has under two ids, so that it cannot recognize the duplicate. */
export const findSecondId = ({ service }: Stage): string | undefined => {
  const ids = new Map<number, string>();
  for (const { uuid, payload } of service.stored) {
    if (payload.n === undefined) continue;
    if ((ids.get(payload.n) ?? uuid) !== uuid) return `event ${payload.n}`;
    ids.set(payload.n, uuid);
  }
  return undefined;
};

/** The address of every page of the simulation. */
const ADDRESS = 'https://shop.example/';

/** An event that arrives with another name or payload than its call had. */
export const findChanged = ({ service, ledger }: Stage): string | undefined => {
  for (const { event, payload } of service.stored) {
    const call = ledger.tracked.get(payload.n ?? 0);
    if (!call) continue;
    const { n, name, size } = call;
    const { url, path, title, referrer, ...own } = payload;
    const isView = name === 'page_view';
    if (isView && (url !== ADDRESS || path !== '/' || title !== call.page || referrer !== '')) return `event ${n}`;
    if (event !== name || JSON.stringify(isView ? own : payload) !== JSON.stringify(payloadOf(n, size)))
      return `event ${n}`;
  }
  return undefined;
};

/** An event whose time is not that of its call. */
export const findWrongTime = ({ service, ledger, plan }: Stage): string | undefined => {
  if (has(plan, 'setClock')) return undefined;
  for (const { payload, timestamp } of service.stored) {
    const event = ledger.tracked.get(payload.n ?? 0);
    // The endpoint for single events takes no time.
    if (!event || !timestamp) continue;
    const late = Date.parse(timestamp) - Math.floor(EPOCH + event.at);
    if (late) return `event ${event.n} says ${late} ms after its call`;
  }
  return undefined;
};
