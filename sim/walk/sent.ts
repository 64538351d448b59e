import { type NetworkRequest, type RequestRecord, textOf } from '../server/network.ts';
import { hasRefusals } from './plan.ts';
import type { Stage } from './stage.ts';

interface SentEvent {
  readonly uuid?: string;
  readonly payload?: { readonly n?: number };
}

interface Body extends SentEvent {
  readonly batch?: readonly SentEvent[];
  readonly handover?: string;
  readonly clock?: readonly number[];
  readonly handovers?: readonly (readonly [id: string, age: number])[];
}

/** A request of a page, and the ids of the events in it. */
export interface Sending {
  readonly record: RequestRecord;
  readonly uuids: readonly string[];
}

const bodyOf = (request: NetworkRequest): Body => JSON.parse(textOf(request));

const uuidsIn = (request: NetworkRequest): string[] => {
  const body = bodyOf(request);
  return (body.batch ?? [body]).flatMap(({ uuid }) => uuid ?? []);
};

/** The requests of all pages, in order. */
export const sendingsOf = ({ network }: Stage): Sending[] =>
  network.requests
    .filter(({ from }) => from.startsWith('page'))
    .map((record) => ({ record, uuids: uuidsIn(record.request) }));

/** How often clew gets 500 for an event that it drops as rejected, at the least. */
const STRIKES = 4;

/** The service's answers to the requests with this event. */
const statusesOf = ({ network }: Stage, n: number): number[] =>
  network.requests.flatMap(({ request, end }) => {
    const body = bodyOf(request);
    return (body.batch ?? [body]).some(({ payload }) => payload?.n === n) ? (end?.serviceStatus ?? 0) : [];
  });

/** Whether a request with this event had no room for its page's clock, because 413 has lowered the size of requests. */
export const wasSentWithoutClock = ({ network }: Stage, n: number): boolean =>
  network.requests.some(({ request }) => {
    const { batch = [], clock } = bodyOf(request);
    return !clock && batch.some(({ payload }) => payload?.n === n);
  });

/** Whether the answers to the requests with this event are a reason to drop it as rejected. */
export const wasRejected = (stage: Stage, n: number): boolean => {
  const statuses = statusesOf(stage, n);
  return statuses.includes(413) || statuses.filter((status) => status === 500).length >= STRIKES;
};

/** Whether an answer may be about the content of its request. */
const isRefusal = (status: number): boolean => status === 413 || status === 500;

/** Whether clew may send other events first, because a request with this event was refused, perhaps for its content. */
export const wasRefused = (stage: Stage, n: number): boolean =>
  hasRefusals(stage.plan) && statusesOf(stage, n).some(isRefusal);

/** The id under which a later page can ask the relay about the request, or ''. */
const handoverOf = (request: NetworkRequest): string =>
  request.url.split('?handover=')[1] ?? bodyOf(request).handover ?? '';

/** Ids of events in the handovers that an answer calls taken. */
export const takenIn = ({ network }: Stage, { request, end }: RequestRecord): readonly string[] => {
  const asked = bodyOf(request).handovers ?? [];
  const taken = new Set(asked.flatMap(([id], at) => (end?.handovers[at] === 'taken' ? id : [])));
  if (!taken.size) return [];
  return network.requests.flatMap((other) => (taken.has(handoverOf(other.request)) ? uuidsIn(other.request) : []));
};

/**
 * Ids of events that were handed over, or in flight to a relay when their page left. A later page can ask a relay about the
 * requests in flight, but not a service.
 */
export const handedOver = (stage: Stage): ReadonlySet<string> => {
  const { history, network, plan } = stage;
  if (plan.isDirect) {
    /** Whether the page has sent it at its departure, and not just before. */
    const isHanded = (record: RequestRecord) =>
      history.departures.some(
        ({ page, at, requests }) =>
          page === record.from && at === record.at && network.requests.indexOf(record) >= requests,
      );
    const handed = sendingsOf(stage).filter(({ record }) => isHanded(record));
    return new Set(handed.flatMap(({ uuids }) => uuids));
  }
  const handed = sendingsOf(stage).filter(
    ({ record: { from, at, request, end } }) =>
      request.url.includes('?handover=') || history.departureOf(from, at) <= (end?.at ?? Number.POSITIVE_INFINITY),
  );
  return new Set(handed.flatMap(({ uuids }) => uuids));
};
