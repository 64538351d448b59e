import { isOther } from '../server/addresses.ts';
import type { RequestRecord } from '../server/network.ts';
import { breaksTrickle } from './npm/trickleCheck.ts';
import { has, hasRefusals, hidesAnswers } from './plan.ts';
import { isKept, isQuiet } from './quiet.ts';
import { MESSAGE_TRAVEL, type Stage } from './stage.ts';

/** Time (ms) after which clew gives up a request. */
const TIMEOUT = 20_000;
/** With a back-off of 1 s that doubles, `MANY` failures in a row last longer than `FEW` ms. */
const MANY = 12;
const FEW = 36_000;

/** Statuses whose answer can ask for a pause. */
const PAUSING = [408, 425, 429, 502, 503, 504];
const REJECTING = [413, 500];
/** Longest pause (ms) that clew keeps. */
const LONGEST = 3_600_000;

/** Statuses that may reject the content of a batch, from the service or from a relay that passes them on. */
const SEARCHED = [413, 500, 502];

/** Requests that pages have sent while they were open. A handover at `pagehide` waits for no lease and no back-off. */
const ordinaryOf = ({ network, history }: Stage): readonly RequestRecord[] =>
  network.requests.filter(
    ({ at, from }) =>
      from.startsWith('page') &&
      at < history.stopOf(from) &&
      !history.departures.some((left) => left.page === from && left.at === at),
  );

/** A request that is sent although an answer has asked for a pause. */
const breaksRetryAfter = (stage: Stage, requests: readonly RequestRecord[]): string | undefined => {
  // If the app's transport rejects after it has read an answer, clew does not see the answer.
  if (hidesAnswers(stage.plan)) return undefined;
  for (const [index, { at, from, end }] of requests.entries()) {
    if (!end?.retryAfter || !PAUSING.includes(end.status) || end.at > at + TIMEOUT) continue;
    // A 500 may begin a bisection, which does not wait.
    if (REJECTING.includes(end.serviceStatus)) continue;
    const next = requests.slice(index + 1).find((other) => other.at > end.at + 50);
    if (next && next.at < end.at + Math.min(end.retryAfter, LONGEST) - 50 && isKept(stage, from, at, end.at, next.at))
      return `${next.from} sends ${((next.at - end.at) / 1000).toFixed(1)} s after ${end.status} to ${from}`;
  }
  return undefined;
};

/** Requests that fail one after the other, faster than any back-off. */
const breaksBackOff = (stage: Stage, requests: readonly RequestRecord[]): string | undefined => {
  // clew sends the parts of a rejected batch one after the other, without a back-off.
  const isSearched = has(stage.plan, 'poison') || hasRefusals(stage.plan);
  let failed: RequestRecord[] = [];
  for (const request of requests) {
    if (isSearched && SEARCHED.includes(request.end?.status ?? 0)) continue;
    failed = request.end?.isFailed ? [...failed, request].slice(-MANY) : [];
    const [first] = failed;
    if (failed.length === MANY && first && request.at - first.at < FEW && isQuiet(stage, first.at, request.at))
      return `${MANY} requests failed within ${((request.at - first.at) / 1000).toFixed(1)} s`;
  }
  return undefined;
};

/** Whether tabs can read each other's lease and its end. */
const areKnown = ({ history }: Stage, from: number, to: number): boolean =>
  history.wasDiskFair(from, to) && history.wasClockFair(from, to);

/** Two tabs that send at the same time. */
const breaksLease = (stage: Stage, requests: readonly RequestRecord[]): string | undefined => {
  const { consent, history } = stage;
  for (const [index, one] of requests.entries()) {
    // A refusal erases the lease, and the page waits for no answer any more. A page that has just sent may not know of the refusal.
    const refusal = consent.answers.find(({ at, isGranted }) => !isGranted && at >= one.at - MESSAGE_TRAVEL);
    const end = Math.min(
      one.end?.at ?? Number.POSITIVE_INFINITY,
      one.at + TIMEOUT,
      refusal?.at ?? Number.POSITIVE_INFINITY,
      history.departureOf(one.from, one.at),
    );
    for (let later = index + 1; later < requests.length; later++) {
      const other = requests[later] as RequestRecord;
      if (other.at >= end - 1) break;
      if (other.from !== one.from && areKnown(stage, one.at - 60_000, other.at))
        return `${other.from} sends at ${(other.at / 1000).toFixed(3)} s while ${one.from} waits for an answer`;
    }
  }
  return undefined;
};

/** The faults in the requests of a walk, by invariant. */
export const checkRequests = (stage: Stage) => {
  const { refused } = stage.history;
  const all = ordinaryOf(stage);
  const sharing = all.filter(({ from }) => !refused.has(from));
  // A page that cannot use the database does not know of the requests of other pages.
  const groups = [sharing, ...[...refused].map((page) => all.filter(({ from }) => from === page))];
  /** Each service has its own lease and its own waits. */
  const find = (check: typeof breaksLease, among = groups) =>
    among
      .flatMap((group) => [false, true].map((other) => group.filter(({ request }) => isOther(request.url) === other)))
      .map((requests) => check(stage, requests))
      .find(Boolean);
  return {
    retryAfter: find(breaksRetryAfter),
    backOff: find(breaksBackOff),
    lease: find(breaksLease, [sharing]),
    trickle: find(breaksTrickle),
  };
};
