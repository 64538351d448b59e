import { isLoaded } from '../browser/page.ts';
import { type Answer, isRequired, mayReach } from './consent.ts';
import { has } from './plan.ts';
import type { Stage } from './stage.ts';
import { UNSAVED } from './unsaved.ts';

/** Time (ms) after which all tabs know a refusal, and the database is deleted. */
const SETTLING = 5000;
/** Time (ms) after which all tabs know a refusal. */
const TRAVEL = 300;

/** Data that a page stores, or a request that it sends, before the visitor has consented. */
export const findBeforeConsent = (stage: Stage): string | undefined => {
  const { consent, browser, network } = stage;
  if (!isRequired(stage) || consent.answers.some(({ isGranted }) => isGranted)) return undefined;
  const [key] = browser.localStorage.keys();
  if (key !== undefined) return `localStorage has ${key}`;
  if (browser.cookies.size) return 'there is a cookie';
  if (browser.disk.rows()) return 'the database is open';
  return network.requests[0] && `a request of ${network.requests[0].from}`;
};

/** Data that a page stores before any answer can have reached the page, or a request that it sends before a grant can have. */
export const findWithoutAnswer = (stage: Stage): string | undefined => {
  const { consent, browser, history, network, plan } = stage;
  // An answer may have reached a prerendered page before the visitor has seen it, which counts as its load.
  if (!isRequired(stage) || has(plan, 'prerender')) return undefined;
  /** Whether one of these answers can have reached the page. */
  const hasAnswer = (page: string, answers: readonly Answer[]) =>
    answers.some((answer) => answer.page === page || (mayReach(answer, page) && answer.at >= history.loadOf(page)));
  const write = browser.writes.find(
    ({ page }, index) =>
      !hasAnswer(
        page,
        consent.answers.filter(({ writes }) => writes <= index),
      ),
  );
  if (write) return `${write.page} stores at ${write.at.toFixed(0)} ms`;
  const grants = consent.answers.filter(({ isGranted }) => isGranted);
  const sent = network.requests.find(
    ({ from }, index) =>
      from.startsWith('page') &&
      !hasAnswer(
        from,
        grants.filter(({ requests }) => requests <= index),
      ),
  );
  return sent && `${sent.from} sends at ${sent.at.toFixed(0)} ms`;
};

/**
 * Whether only stubs know of the refusal. The page of the refusal, and all later pages, left before their bundle had loaded, or wait for
 * it. The docs name the limit: before consent a stub may not write, and it cannot erase a database as its page leaves.
 */
const isInStubs = ({ browser, history: { departures, loadOf } }: Stage, { page, at }: Answer): boolean =>
  departures.some((left) => left.page === page && left.at >= at && !left.isLoaded) &&
  !departures.some((left) => left.isLoaded && loadOf(left.page) >= at) &&
  ![...browser.pages].some((other) => loadOf(other.name) >= at && isLoaded(other));

/** A page that leaves writes these: its journal, the name of its lease, its book, and which requests it has handed over. */
const OF_DEPARTURE = /^clew\.(page|tab|book|handed) /;

/**
 * Whether a page has left before it could learn of the latest refusal in another tab. The docs name the limit: what the page leaves in
 * localStorage stays until the next refusal.
 */
const isLeftUnknowing = ({ consent: { answers }, history }: Stage, refused: number, key: string): boolean =>
  OF_DEPARTURE.test(key) &&
  history.departures.some(
    ({ at, page, kind }) =>
      kind === 'leaves' &&
      at >= refused &&
      at <= refused + TRAVEL &&
      !answers.some((answer) => answer.at > at || (answer.at >= refused && answer.page === page)),
  );

/** Data that is still stored some time after a refusal. */
export const findAfterRefusal = (stage: Stage): string | undefined => {
  const { consent, browser, world, history, plan } = stage;
  const last = consent.answers.at(-1);
  const now = world.scheduler.now();
  if (!last || last.isGranted || !plan.features.hasChannel || isInStubs(stage, last)) return undefined;
  // Each page that loads repeats the last answer, so the first refusal after the last grant counts.
  const granted = consent.answers.findLastIndex(({ isGranted }) => isGranted);
  const { at } = consent.answers[granted + 1] ?? last;
  // A SIGKILL soon after a refusal may bring localStorage back, also if no page is open.
  const isUndone = [
    ...history.departures.filter(({ kind }) => kind === 'crashes'),
    ...stage.acts.filter(({ verb }) => verb === 'kill'),
  ].some((end) => end.at >= at - UNSAVED.kill);
  if (now - last.at < SETTLING || isUndone || !history.wasDiskFair(at - SETTLING, now)) return undefined;
  const key = [...browser.localStorage.keys()].find((one) => !isLeftUnknowing(stage, at, one));
  if (key !== undefined) return `localStorage has ${key}`;
  if (browser.cookies.size) return `cookie ${[...browser.cookies].join()}`;
  const rows = browser.disk.rows()?.size();
  return rows ? `${rows} rows in the database` : undefined;
};

/** A request that a page sends after a refusal, and before the next grant. */
export const findSentAfterRefusal = (stage: Stage): string | undefined => {
  const { consent, network, plan } = stage;
  if (!plan.features.hasChannel) return undefined;
  for (const { at, from } of network.requests) {
    if (!from.startsWith('page')) continue;
    const known = consent.answers.filter((answer) => answer.at <= at && mayReach(answer, from));
    const [last] = known.slice(-1);
    const since = known[known.findLastIndex(({ isGranted }) => isGranted) + 1]?.at ?? at;
    if (last && !last.isGranted && at > since + TRAVEL) return `${from} at ${(at / 1000).toFixed(3)} s`;
  }
  return undefined;
};

/** A request that a page sends between its own `consent(false)` and the next grant. */
export const findSentByRefusing = ({ consent, network }: Stage): string | undefined => {
  for (const [index, { at, page, isGranted, requests }] of consent.answers.entries()) {
    // The message with an older grant of another tab may not have reached this page yet.
    const isCrossed = consent.answers.some(
      (other) => other.isGranted && other.page !== page && other.at <= at && other.at > at - TRAVEL,
    );
    if (isGranted || isCrossed) continue;
    const next = consent.answers.slice(index + 1).find((answer) => answer.isGranted);
    const sent = network.requests.slice(requests, next?.requests).find(({ from }) => from === page);
    if (sent) return `${page} at ${(sent.at / 1000).toFixed(3)} s`;
  }
  return undefined;
};

/** An event that was tracked after a refusal that its page knew of, and that arrived. */
export const findUndead = (stage: Stage, arrived: ReadonlySet<number>): string | undefined => {
  if (!isRequired(stage)) return undefined;
  for (const event of stage.ledger.tracked.values()) {
    const known = stage.consent.known(event);
    if (event.isReceived && arrived.has(event.n) && known.size === 1 && known.has(false))
      return `event ${event.n} of ${event.page}`;
  }
  return undefined;
};
