import { type Clew, isLoaded, type Page } from '../browser/page.ts';
import { sign, tokenOf } from '../server/hmac.ts';
import { propertyOf } from '../server/service.ts';
import { changeVisitor } from './consent.ts';
import { giveUp, thaw } from './hidden.ts';
import { FORGETFUL } from './identityChecks.ts';
import { payloadOf } from './ledger.ts';
import { forgetUnstored } from './losses.ts';
import { has } from './plan.ts';
import type { Stage, Tab } from './stage.ts';
import { noteWeather } from './weather.ts';

/** Actions of the visitor and of the app in a page. The ledger notes their calls. */

export const MOST_TABS = 3;
/** Time (ms) after which a page that has loaded knows the visitor, unless the database is blocked. */
const BOOTING = 5000;

export const openTab = (stage: Stage): void => {
  if (stage.tabs.length >= MOST_TABS) return;
  const tab: Tab = { page: undefined, cached: [], sessionStorage: new Map() };
  stage.tabs.push(tab);
  stage.load(tab);
};

/** The tab with this number, modulo the number of tabs, and a page that runs in it. */
export const tabAt = (stage: Stage, index: number): Tab => {
  if (!stage.tabs[0]) openTab(stage);
  const tab = stage.tabs[index % stage.tabs.length] as Tab;
  thaw(stage, tab);
  if (tab.page?.state !== 'running') stage.load(tab);
  return tab;
};

export const pageAt = (stage: Stage, index: number): Page => tabAt(stage, index).page as Page;

/** Faults in which a page may not be able to ask its database. */
const SHUT = ['fillDisk', 'refuseStorage', 'hangOpens', 'closeConnections', 'busyDatabase', 'clearDatabase'] as const;

/** Whether only localStorage is full. Other tabs then learn of a change by message, from a page that had time to store it. */
const isOnlyJournalFull = ({ plan }: Stage, page: Page): boolean =>
  page.storedAt !== undefined &&
  plan.features.hasChannel &&
  !has(plan, ...SHUT, 'crash', 'kill', 'identifyAndLeave', 'resetAndLeave');

/** Whether the page may not have been able to ask who the visitor is. */
const isStranger = (stage: Stage, page: Page): boolean => {
  const { plan, history, world } = stage;
  if (!has(plan, ...FORGETFUL) || isOnlyJournalFull(stage, page)) return false;
  return history.refused.has(page.name) || !history.wasDiskFair(history.loadOf(page.name), world.scheduler.now());
};

interface Calls {
  readonly count: number;
  readonly name?: string;
  readonly size?: number;
  /** Whether the page's second tracker is called. */
  readonly isOther?: boolean;
}

/** The entry of the ledger for a call of `track` in this page. */
export const callOf = (stage: Stage, page: Page, { name = 'walk', size = 0, isOther = false }: Calls) => ({
  page: page.name,
  name,
  size,
  isReceived: isLoaded(page),
  isEarly: page.storedAt === undefined,
  isStranger: isStranger(stage, page),
  isOther,
});

/** Calls `track` `count` times, each time with the next number. */
export const trackBy = (stage: Stage, page: Page, clew: Clew | undefined, calls: Calls): void => {
  const { ledger, world } = stage;
  const { count } = calls;
  const call = callOf(stage, page, calls);
  const { name, size, isOther } = call;
  const first = ledger.tracked.size + 1;
  const numbers = `${first}${count > 1 ? `–${first + count - 1}` : ''}`;
  world.log(page.name, () => `track ${isOther ? 'for the other service ' : ''}${name} ${numbers}`);
  page.guard(() => {
    // A listener may track in between.
    for (let i = 0; i < count; i++) clew?.('track', name, payloadOf(ledger.track(call), size));
  });
};

export const track = (stage: Stage, page: Page, count: number, name?: string, size?: number): void =>
  trackBy(stage, page, page.clew(), { count, ...(name && { name }), ...(size && { size }) });

/**
 * @param isOther whether the call is for the page's second service. Undefined: for all services
 * @param isForged whether the signature is another person's
 */
export const identifyBy = (
  stage: Stage,
  page: Page,
  clew: Clew | undefined,
  person: string,
  isOther?: boolean,
  isForged = false,
): void => {
  const { ledger, world, history, plan, relay } = stage;
  const isSigned = !!plan.isSigned && !plan.isDirect;
  // A page that has just loaded or come back may not know yet who is identified.
  const isEarly = page.storedAt === undefined || history.wasStirred(world.scheduler.now() - BOOTING, Infinity);
  const calledAt = world.scheduler.now();
  const call = {
    page: page.name,
    person,
    calledAt,
    isReceived: isLoaded(page),
    isOther,
    isForged: isSigned && isForged,
    isStranger: isStranger(stage, page),
  };
  const isMade = changeVisitor(stage, page, (isHeld) => ledger.identify({ ...call, isEarly: isEarly || !!isHeld }));
  if (!isMade) return;
  const where = isOther === undefined ? '' : ` at the ${isOther ? 'other' : 'first'} service`;
  world.log(page.name, () => `identify ${person}${where}${isSigned && isForged ? ' with a wrong signature' : ''}`);
  const subject = isForged ? `not ${person}` : person;
  const signature = plan.hasTokens ? tokenOf(subject, world.serverClock(), relay?.key() ?? 0) : sign(subject);
  const proof = isSigned ? [undefined, { signature }] : [];
  page.guard(() => void clew?.('identify', person, ...proof));
};

export const identify = (stage: Stage, page: Page, person: string, isForged?: boolean): void =>
  identifyBy(stage, page, page.clew(), person, undefined, isForged);

export const reset = (stage: Stage, page: Page): void => {
  const { ledger, world } = stage;
  const call = { page: page.name, calledAt: world.scheduler.now() };
  if (!changeVisitor(stage, page, () => ledger.reset(call))) return;
  world.log(page.name, () => 'reset');
  page.guard(() => void page.clew()?.('reset'));
};

/** Properties of the customer, numbered like an event: they have to arrive, too. */
export const setProperties = ({ ledger, world, plan, history }: Stage, page: Page): void => {
  // After the database was deleted, a page cannot know the customer.
  const isFair = !has(plan, 'clearDatabase', ...FORGETFUL) && isLoaded(page);
  const person = isFair ? ledger.personOf(page.name) : undefined;
  const isEarly = page.storedAt === undefined;
  const call = { page: page.name, name: person ? 'upsert' : 'early', size: 0, isReceived: true, isEarly };
  const n = person === undefined ? undefined : ledger.track(call);
  // Properties of an anonymous visitor may never arrive. Without `n`, they do not count as an event that is stored.
  const properties = { visits: ledger.tracked.size, ...(n && { ...(person && { n }), [propertyOf(n)]: true }) };
  world.log(page.name, () => `setProperties ${JSON.stringify(properties)}`);
  history.upsert(page.name);
  page.guard(() => void page.clew()?.('setProperties', properties));
};

export const flush = (stage: Stage, page: Page): void =>
  page.guard(() => {
    stage.history.stir();
    const flushing = page.clew()?.('flush') as Promise<void> | undefined;
    if (!flushing) return;
    stage.flushes.set(flushing, { page, at: stage.world.scheduler.now() });
    flushing.then(() => stage.flushes.delete(flushing));
  });

/** Lets the page leave, and notes its departure in the history. */
export const depart = (stage: Stage, page: Page, isCached: boolean): void => {
  const { flushes, history, ledger } = stage;
  // The page has crashed before.
  if (page.state === 'gone') return;
  history.depart({ page: page.name, kind: 'leaves', isLoaded: isLoaded(page) });
  if (!isLoaded(page)) ledger.leaveUnheard(page.name);
  // The stub saves its calls without their promises, which stay pending.
  if (!isLoaded(page)) for (const [promise, call] of flushes) if (call.page === page) flushes.delete(promise);
  stage.browser.leave(page, isCached);
  forgetUnstored(stage, page);
};

/** The page leaves. In its tab the next page loads, unless the tab is closed. */
export const leave = (stage: Stage, tab: Tab, isClosed = false, load = () => void stage.load(tab)): void => {
  const { world } = stage;
  const { page } = tab;
  if (!page) return;
  const isCached = !isClosed && world.random.chance(0.5);
  depart(stage, page, isCached);
  giveUp(stage, tab);
  tab.page = undefined;
  if (isCached) tab.cached.push(page);
  if (isClosed) stage.tabs.splice(stage.tabs.indexOf(tab), 1);
  else
    world.scheduler.next(`${page.name} has left`, () => {
      noteWeather(stage);
      load();
    });
};

/** history.back() to a page in the back/forward cache. */
export const goBack = (stage: Stage, tab: Tab): void => {
  const cached = tab.cached.pop();
  if (cached?.state !== 'suspended') return;
  depart(stage, tab.page as Page, false);
  giveUp(stage, tab);
  stage.history.stir();
  tab.page = cached;
  // A page that comes back asks its database again.
  cached.storedAt = undefined;
  stage.world.scheduler.next(`${cached.name} is restored`, () => {
    stage.history.restore(cached.name);
    stage.browser.restore(cached);
  });
};
