import type { Browser } from '../browser/browser.ts';
import { isLoaded, type Page } from '../browser/page.ts';
import type { Network } from '../server/network.ts';
import type { Scheduler } from '../world/scheduler.ts';
import type { History } from './history.ts';
import type { Ledger, Tracked } from './ledger.ts';
import { has } from './plan.ts';
import type { Stage } from './stage.ts';
import { mayBeTakenBack } from './unsaved.ts';

/** The visitor's answer, passed to the tracker of one page. */
export interface Answer {
  readonly at: number;
  readonly page: string;
  readonly isGranted: boolean;
  /** The page's stub keeps it until the bundle has loaded. Until then, no other page learns of it. */
  readonly isInStub: boolean;
  /** Number of events tracked before, which orders an answer and the events of the same moment. */
  readonly tracked: number;
  /** Number of requests sent before, which orders an answer and the requests of the same moment. */
  readonly requests: number;
  /** Number of writes before, which orders an answer and the writes of the same moment. */
  readonly writes: number;
}

/** A call that waits for a grant. */
interface Held {
  readonly page: string;
  readonly note: () => void;
  /** Another page has passed a refusal at this virtual time (ms), which may not have reached this one. */
  readonly refusedAt?: number;
}

/** The visitor's answers, and which of them each page may know. */
export interface Consent {
  readonly answers: readonly Answer[];
  note(page: string, isGranted: boolean, isInStub?: boolean): void;
  /** The page's tracker starts, and acts on the answers that its own stub has kept, even if another page has a later answer. */
  replay(page: string): void;
  /** A call of this page waits for a grant. `note` is called with the grant. A refusal ends the call. */
  hold(page: string, note: () => void): void;
  /** Answers that the event's page may have acted on. More than one while an answer travels between tabs. */
  known(event: Pick<Tracked, 'page' | 'at' | 'n'>): ReadonlySet<boolean | undefined>;
  /**
   * Virtual time (ms) of the first grant after the event that reached its page, or infinity. Without BroadcastChannel, only
   * grants of the page itself count.
   */
  grantAfter(event: Tracked): number;
}

/** Whether the page can learn of the answer. */
export const mayReach = (answer: Answer, page: string): boolean => !answer.isInStub || answer.page === page;

/** @param travel how long (ms) an answer may take to reach other tabs */
export const createConsent = (
  { now }: Pick<Scheduler, 'now'>,
  ledger: Ledger,
  history: History,
  travel: number,
  { requests }: Pick<Network, 'requests'>,
  { writes }: Pick<Browser, 'writes'>,
): Consent => {
  const answers: Answer[] = [];
  let held: Held[] = [];
  const note = (page: string, isGranted: boolean, isInStub = false) => {
    const before = { tracked: ledger.tracked.size, requests: requests.length, writes: writes.length };
    answers.push({ at: now(), page, isGranted, isInStub, ...before });
    const isBack = (other: string) => history.restored(now(), now()).includes(other);
    const isReached = (other: string) =>
      other === page ||
      (!isInStub && travel < Number.POSITIVE_INFINITY && (isBack(other) || !history.wasAway(other, now(), now())));
    const reached = held.filter((call) => isReached(call.page));
    const isEnded = ({ page: caller, refusedAt }: Held) => caller === page || refusedAt !== undefined;
    // The page may consent itself before it learns of the refusal.
    const mayCross = ({ page: caller, refusedAt = Number.NEGATIVE_INFINITY }: Held) =>
      caller !== page && now() - refusedAt <= travel;
    const given = isGranted ? reached.filter((call) => !mayCross(call)) : reached.filter(isEnded);
    held = held.filter((call) => !given.includes(call));
    if (!isGranted) held = held.map((call) => (reached.includes(call) ? { ...call, refusedAt: now() } : call));
    for (const call of isGranted ? given : []) {
      const { refusedAt } = call;
      const isAway = (since: number) => history.wasAway(call.page, since, since + travel);
      const isMissed = (since: number) => isAway(since) || (call.page === page && now() - since <= travel);
      if (refusedAt !== undefined && !isMissed(refusedAt)) continue;
      call.note();
      // The grant may not reach a page that is just coming back.
      if (refusedAt !== undefined || isBack(call.page)) ledger.doubt(1);
    }
  };
  /** By when the page has an answer of another page. A frozen page gets it after its thaw. */
  const reachedAt = (answer: Answer, page: string): number =>
    history.freezes
      .filter((freeze) => freeze.page === page)
      .reduce((by, { from, to }) => (from < by && to > answer.at ? to + travel : by), answer.at + travel);
  /** The answer was given while the page was in the back/forward cache, or it has not reached the page yet. */
  const isUnheard = (answer: Answer, page: string) =>
    answer.page !== page && history.wasAway(page, answer.at, reachedAt(answer, page));
  /**
   * In the back/forward cache a page misses the answers of others. A page that has started sees a refusal when it returns,
   * because its data are gone.
   */
  const isMissed = (answer: Answer, page: string) =>
    isUnheard(answer, page) &&
    (answer.isGranted || !answers.some((other) => other.isGranted && other.at < answer.at && !isUnheard(other, page)));
  return {
    answers,
    note,
    hold: (page, note) => void held.push({ page, note }),
    replay(page) {
      const own = answers.filter((answer) => answer.page === page && answer.isInStub);
      for (const { isGranted } of own) {
        note(page, isGranted);
        if (!isGranted) ledger.refuse(page, true);
      }
    },
    known({ page, at, n }) {
      const known = new Set<boolean | undefined>();
      /** Answers before this virtual time (ms) do not count, because the page has a later answer. */
      let crossing = Number.NEGATIVE_INFINITY;
      for (const answer of answers.filter((one) => one.tracked < n && mayReach(one, page)).reverse()) {
        if (answer.at < crossing) return known;
        known.add(answer.isGranted);
        const isOld = answer.page === page || at > reachedAt(answer, page);
        if (isOld && !isMissed(answer, page)) crossing = Math.max(crossing, answer.at - travel);
      }
      return crossing === Number.NEGATIVE_INFINITY ? known.add(undefined) : known;
    },
    grantAfter: (event) =>
      answers.find(
        (answer) =>
          answer.tracked >= event.n &&
          answer.isGranted &&
          mayReach(answer, event.page) &&
          (answer.page === event.page || travel < Number.POSITIVE_INFINITY) &&
          !isMissed(answer, event.page),
      )?.at ?? Number.POSITIVE_INFINITY,
  };
};

/** Whether pages must not store or send before a grant. */
export const isRequired = ({ plan }: Pick<Stage, 'plan'>): boolean =>
  plan.dataset.consent === 'required' || plan.dataset.respectGpc === 'true';

/** A call changes the visitor. `note` writes it into the ledger as soon as it counts. Returns whether the walk makes the call. */
export const changeVisitor = (stage: Stage, page: Page, note: (isHeld?: boolean) => void): boolean => {
  const { world, ledger, consent } = stage;
  const call = { page: page.name, at: world.scheduler.now(), n: ledger.tracked.size + 1 };
  const known = isRequired(stage) ? consent.known(call) : new Set([true]);
  // The walk cannot determine which answer the page knows.
  if (known.size > 1 || (isRequired(stage) && (!isLoaded(page) || isRefusedByGpc(stage, call)))) return false;
  if (known.has(true)) note();
  else if (known.has(undefined)) consent.hold(page.name, () => note(true));
  return true;
};

/** The platform passes the answer to the page's tracker. A refusal makes an identified customer anonymous. */
export const giveConsent = (stage: Stage, page: Page, isGranted: boolean): void => {
  const { consent, history, world, ledger } = stage;
  consent.note(page.name, isGranted, !isLoaded(page));
  if (!isGranted) ledger.refuse(page.name, isLoaded(page));
  // An answer may start the tracker, which then sends at once.
  history.stir();
  world.log(page.name, () => `consent(${isGranted})`);
  page.guard(() => void page.clew()?.('consent', isGranted));
};

/** Whether the page may hold the event back, because it may not know of a grant. */
const isHeld = (stage: Stage, event: Tracked): boolean => {
  if (!isRequired(stage)) return false;
  const known = stage.consent.known(event);
  return known.size > 1 || !known.has(true);
};

/** Virtual time (ms) from which the event is not held back for want of consent. */
export const releasedAt = (stage: Stage, event: Tracked): number =>
  isHeld(stage, event) ? stage.consent.grantAfter(event) : event.at;

/** Whether a refusal, or a page that left without an answer, may have ended the event. */
export const isEndedByConsent = (stage: Stage, event: Tracked): boolean => {
  if (!isRequired(stage)) return false;
  const { history } = stage;
  const departure = history.departures.find(({ page, at }) => page === event.page && at >= event.at);
  return (
    mayBeDropped(stage, event) ||
    (isHeld(stage, event) && releasedAt(stage, event) >= (departure?.at ?? Number.POSITIVE_INFINITY)) ||
    departure?.isLoaded === false
  );
};

/** With Global Privacy Control each page begins with a refusal, until it has an answer of its own. */
const isRefusedByGpc = ({ plan, consent }: Stage, event: Pick<Tracked, 'page' | 'n'>): boolean =>
  plan.features.hasGpc && !consent.answers.some(({ page, tracked }) => page === event.page && tracked < event.n);

/** Time (ms) until a page knows of a refusal in another tab, or that it has missed one in the back/forward cache. */
const ASKING = 300;

/** Whether the page has just come back from the back/forward cache, and has missed a refusal there. The docs name the limit. */
const hasMissed = ({ consent, history }: Stage, { page, at }: Tracked): boolean =>
  history.restored(at - ASKING, at).includes(page) &&
  consent.answers.some(
    (answer) => !answer.isGranted && answer.at <= at && history.wasAway(page, answer.at, answer.at + ASKING),
  );

/**
 * Whether a SIGKILL may have brought back what localStorage had before a refusal, and the event's page has left before the database
 * has answered. The docs name the limit.
 */
const countsAsRefused = (stage: Stage, { page, at, isEarly }: Tracked): boolean =>
  isEarly &&
  stage.history.departureOf(page, at) - at < ASKING &&
  stage.consent.answers.some((answer) => !answer.isGranted && answer.at <= at && mayBeTakenBack(stage, answer.at));

/**
 * Whether the page is back from the back/forward cache, and may find neither its database nor its mark in localStorage. A refusal
 * leaves the same. The docs name the limit.
 */
export const looksRefused = ({ plan, history }: Stage, { page, at }: Tracked): boolean =>
  has(plan, 'clearDatabase') && has(plan, 'limitStorage', 'refuseStorage') && history.restored(0, at).includes(page);

/** Whether clew may report the event as dropped for the reason `consent`. */
export const mayBeDropped = (stage: Stage, event: Tracked): boolean =>
  isRequired(stage) &&
  (hasMissed(stage, event) ||
    countsAsRefused(stage, event) ||
    stage.consent.known(event).has(false) ||
    isRefusedByGpc(stage, event) ||
    stage.consent.answers.some(({ tracked, isGranted }) => tracked >= event.n && !isGranted));
