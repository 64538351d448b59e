import type { Page } from '../browser/page.ts';
import { isRequired } from './consent.ts';
import { type Emitted, endsIn } from './emitted.ts';
import { accountsOf } from './npm/app.ts';
import { has } from './plan.ts';
import { sendingsOf } from './sent.ts';
import type { Stage } from './stage.ts';

const statsOf = (page: Page) => accountsOf(page).map(({ stats }) => stats);

/** Whether other tabs' reports have reached the page all the time. Otherwise it counts what other tabs have sent, and emits no signal. */
const isInformed = ({ plan, history, world }: Stage, page: string): boolean =>
  plan.features.hasChannel &&
  !history.restored(0, world.scheduler.now()).includes(page) &&
  !history.freezes.some((freeze) => freeze.page === page);

/** The counts of a page that has emitted another number of events as delivered, or as dropped. */
export const findMiscount = (stage: Stage, page: Page): string | undefined => {
  const emitted = stage.signals.endsOf(page.name);
  if (!emitted) return undefined;
  const counted = endsIn(statsOf(page));
  const isMore = counted.delivered > emitted.delivered && !isInformed(stage, page.name);
  if (counted.dropped === emitted.dropped && (counted.delivered === emitted.delivered || isMore)) return undefined;
  return `${page.name} counts ${JSON.stringify(counted)}, and has emitted ${JSON.stringify(emitted)}`;
};

const nameOf = ({ page, event, n }: Emitted): string => `${page}: ${event} ${n ?? ''}`;

/**
 * An event that a page emits as delivered before the service has confirmed it. Without a relay, a page that leaves or stops also counts
 * as delivered what it hands over. A page that gets no reports of other tabs does not know that another tab has dropped an event.
 */
export const findUnconfirmed = (stage: Stage): string | undefined => {
  const { signals, service, plan, history } = stage;
  // Such a transport may fail for a handover, of which then no request is seen.
  if (plan.isDirect && has(plan, 'transport')) return undefined;
  const arrivals = new Map<string, number>();
  for (const { uuid, isConfirmed, at } of service.stored)
    if (isConfirmed && !arrivals.has(uuid)) arrivals.set(uuid, at);
  const isHandover = (from: string, at: number) =>
    history.stopOf(from) <= at || history.departures.some((left) => left.page === from && left.at === at);
  const handed = sendingsOf(stage).filter(({ record: { from, at } }) => plan.isDirect && isHandover(from, at));
  const isConfirmed = ({ uuid, at }: Emitted) =>
    (arrivals.get(uuid) ?? Number.POSITIVE_INFINITY) <= at ||
    handed.some(({ record, uuids }) => record.at <= at && uuids.includes(uuid));
  const isDropped = ({ page, uuid, at }: Emitted) =>
    !isInformed(stage, page) && signals.emitted.some((one) => one.uuid === uuid && one.reason && one.at <= at);
  const wrong = signals.emitted.find((one) => one.reason === undefined && !isConfirmed(one) && !isDropped(one));
  return wrong && nameOf(wrong);
};

/** An own event whose end a page emits twice. Without a database, a page may take in the events of other pages again. */
export const findEndedTwice = (stage: Stage): string | undefined => {
  const ended = new Set<string>();
  for (const one of stage.signals.emitted) {
    const { page, n = 0, uuid } = one;
    // An event that the app has filtered has no id.
    if (!uuid || stage.ledger.tracked.get(n)?.page !== page || !isInformed(stage, page)) continue;
    if (ended.has(uuid)) return nameOf(one);
    ended.add(uuid);
  }
  return undefined;
};

/**
 * An event that a page emits as delivered with another name, number or visitor id than the service has. Before the database has
 * answered, another page may take in the event, and know another visitor.
 */
export const findUnlikeSignal = (stage: Stage): string | undefined => {
  const { signals, service, ledger } = stage;
  const stored = new Map(service.stored.map((one) => [one.uuid, one]));
  const wrong = signals.emitted.find(({ page, uuid, reason, event, n, visitorId }) => {
    const isSure = reason === undefined && isInformed(stage, page) && !ledger.tracked.get(n ?? 0)?.isEarly;
    const one = isSure ? stored.get(uuid) : undefined;
    return one && (one.event !== event || one.payload.n !== n || one.correlationValue !== visitorId);
  });
  return wrong && nameOf(wrong);
};

/**
 * Longest time (ms) until each page knows that its events have ended. A page may wait for an hour, because of a back-off or without
 * BroadcastChannel. Then it finds the end of its events when it sends again.
 */
export const LEARNING = 2 * 3_600_000;

/** How many events of the page get only 500. The docs name the limit: such an event stays queued if nothing else is. */
const refusedBy500 = ({ ledger }: Stage, name: string): number =>
  [...ledger.tracked.values()].filter((event) => event.name === 'poison' && event.page === name && !event.dropped)
    .length;

/** A page that counts events as queued although all events have ended. A page that has missed the consent still waits for it. */
export const findQueued = (stage: Stage): string | undefined => {
  // Events that are lost with the database stay queued, because no service has confirmed them.
  if (stage.history.erasures.some(({ events }) => events.size)) return undefined;
  for (const page of stage.browser.pages) {
    if (isRequired(stage) && !isInformed(stage, page.name)) continue;
    const queued = statsOf(page).reduce((sum, stats) => sum + stats.queued, 0);
    if (page.state === 'running' && queued > refusedBy500(stage, page.name))
      return `${page.name}: ${JSON.stringify(statsOf(page))}`;
  }
  return undefined;
};
