import fc from 'fast-check';
import { expect } from 'vitest';
import type { Upstream } from '../upstream.ts';
import { type RawRequest, rawRequest } from './rawRequests.ts';
import { exchange, parseAnswer, type RawAnswer } from './rawSocket.ts';
import { BATCH, event, expectPristine, forwarded, KEY, type OpenRelay } from './stage.ts';

/** Node answers these itself, without a body, and closes. */
const OF_NODE = [400, 408, 417, 431];

const expectFromRelay = ({ status, headers, body }: RawAnswer) => {
  expect(headers.get('clew-relay')).toBe('1');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(status).toBeLessThan(500);
  if (!body) return;
  expect(headers.get('content-type')).toBe('application/json');
  JSON.parse(Buffer.from(body, 'latin1').toString());
};

interface SentEvent {
  readonly uuid?: string;
  readonly event?: string;
}

/** Expects that each sent event has either arrived or is named as rejected in the answer. */
const expectAccounted = (request: RawRequest, { status, body }: RawAnswer, arrived: readonly SentEvent[]) => {
  if (status >= 300) return expect(arrived).toEqual([]);
  if (request.method !== 'POST' || !request.path.includes(BATCH)) return;
  // A success for bytes that are not UTF-8 throws here.
  const text = new TextDecoder('utf-8', { fatal: true }).decode(request.body);
  const { batch } = JSON.parse(text) as { batch: SentEvent[] };
  const { rejected = [] } = (body ? JSON.parse(body) : {}) as { rejected?: { uuid: string }[] };
  expect(arrived.length + rejected.length).toBe(batch.length);
  const named = new Set(rejected.map(({ uuid }) => uuid));
  const expected = batch.flatMap((sent) => (sent?.uuid !== undefined && !named.has(sent.uuid) ? [sent.uuid] : []));
  for (const { uuid } of arrived) expect(uuid === undefined || expected.includes(uuid)).toBe(true);
  const ids = arrived.flatMap(({ uuid }) => uuid ?? []);
  expect(new Set(ids).size).toBe(ids.length);
};

const arrivedAt = (upstream: Upstream): SentEvent[] =>
  upstream.bodies().flatMap((body) => {
    const { batch } = body as { batch?: SentEvent[] };
    return batch ?? [body as SentEvent];
  });

/** How often each status was read, so that a test can check that requests of all kinds were sent. */
export type Statuses = Map<number | undefined, number>;

/** Any bytes are answered well or cut off, and the next request works. */
export const socketProperty = (relay: OpenRelay, upstream: Upstream, statuses: Statuses) =>
  fc.asyncProperty(rawRequest, async (request) => {
    upstream.received.length = 0;
    const text = await exchange(Number(new URL(relay.url).port), request);
    expect(text).not.toContain(KEY);
    const [answer, rest] = parseAnswer(text, request.method) ?? [undefined, text];
    statuses.set(answer?.status, (statuses.get(answer?.status) ?? 0) + 1);
    if (request.isWellFormed) {
      expect(answer).toBeDefined();
      expect(rest).toBe('');
    }
    if (!answer) {
      expect(rest).toBe('');
      expect(upstream.received).toEqual([]);
    } else {
      const isOfNode = !request.isWellFormed && !answer.headers.has('clew-relay');
      if (isOfNode) expect(OF_NODE).toContain(answer.status);
      else expectFromRelay(answer);
      if (isOfNode) expect(answer.body).toBe('');
      expectAccounted(request, answer, arrivedAt(upstream));
    }
    upstream.received.length = 0;
    expect((await relay.post(BATCH, { batch: [event('honest')] })).status).toBe(201);
    expect(forwarded(upstream)).toEqual([['honest']]);
    expectPristine();
  });
