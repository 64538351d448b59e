import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { parseJson } from '../../src/wire.ts';
import type { StandIn } from './service.ts';

/** The settings that the relay under test needs. */
export const SETTINGS = {
  apiKey: 'conformance-key',
  identitySecret: 'the conformance secret, 32 bytes or more',
  origin: 'https://www.example.com',
} as const;

/** The service's paths below the relay's address. */
export const BATCH = '/api/events/batch/';
export const SINGLE = '/events/';
export const UPSERT = '/api/customers/upsert';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** An empty object if the body is no JSON object. */
  readonly json: { readonly rejected?: { readonly uuid: string; readonly reason: string }[]; readonly status?: number };
}

/** The relay under test, and the service behind it. */
export interface Bench {
  readonly service: StandIn;
  /** Posts a value as JSON, or a text or bytes as they are. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  send(path: string, init: RequestInit): Promise<Reply>;
  /** Posts a value as a beacon does, and keeps its last byte. The returned function sends it, and resolves at the answer. */
  begin(path: string, body: object): Promise<() => Promise<void>>;
  /** The events that the service has, in order. */
  events(): Record<string, unknown>[];
}

/** One rule of the protocol. `run` throws if the relay breaks it. */
export interface Check {
  readonly name: string;
  run(bench: Bench): Promise<void>;
}

export const event = (more: object = {}): Record<string, unknown> & { readonly uuid: string } => ({
  uuid: randomUUID(),
  timestamp: new Date().toISOString(),
  event: 'conformance',
  source: 'custom',
  correlationKey: '_id',
  correlationValue: randomUUID(),
  payload: { plan: 'pro' },
  ...more,
});

export const sign = (primaryKey: string): string =>
  createHmac('sha256', SETTINGS.identitySecret).update(primaryKey).digest('hex');

/** So long (ms) a relay may take to answer. */
const PATIENCE = 15_000;

/** @param url the address of the relay, to which the service's paths are added */
export const createBench = (url: string, service: StandIn): Bench => {
  const prefix = url.replace(/\/$/, '');
  const send: Bench['send'] = async (path, init) => {
    const response = await fetch(prefix + path, {
      method: 'POST',
      signal: AbortSignal.timeout(PATIENCE),
      ...init,
    });
    const json = parseJson(await response.text());
    return { status: response.status, headers: response.headers, json: Object(json) };
  };
  return {
    service,
    send,
    post(path, body, headers = {}) {
      const isRaw = typeof body === 'string' || body instanceof Uint8Array;
      const given = isRaw ? (body as BodyInit) : JSON.stringify(body);
      return send(path, { body: given, headers: { 'Content-Type': 'application/json', ...headers } });
    },
    async begin(path, body) {
      const bytes = Buffer.from(JSON.stringify(body));
      const request = (url.startsWith('https:') ? requestHttps : requestHttp)(prefix + path, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain', 'Content-Length': bytes.length },
        signal: AbortSignal.timeout(PATIENCE),
      });
      const answered = once(request, 'response');
      // The returned function rejects in its place. A relay that answers early may also break off the connection.
      answered.catch(() => {});
      request.on('error', () => {});
      await new Promise((resolve) => request.write(bytes.subarray(0, -1), resolve));
      return async () => {
        request.end(bytes.subarray(-1));
        const [response] = await answered;
        response.resume();
        await once(response, 'end');
      };
    },
    events: () =>
      service.forwarded.flatMap(({ body }) => {
        const { batch } = Object(body) as { batch?: Record<string, unknown>[] };
        return batch ?? [Object(body)];
      }),
  };
};

/** The relay lacks an optional part of the protocol. */
export class Missing extends Error {}

/** The result of a check. */
export interface Result {
  readonly name: string;
  /** Undefined if the relay keeps the rule. */
  readonly fault: string | undefined;
  /** The relay lacks the optional part that the rule is about. */
  readonly isSkipped: boolean;
}

/** Runs the checks one after the other. */
export const runChecks = async (
  checks: readonly Check[],
  bench: Bench,
  onResult: (result: Result) => void = () => {},
): Promise<Result[]> => {
  const results: Result[] = [];
  for (const { name, run } of checks) {
    bench.service.clear();
    const error: unknown = await run(bench).then(
      () => undefined,
      (error: unknown) => error ?? 'no error',
    );
    const isSkipped = error instanceof Missing;
    const text = error === undefined || isSkipped ? undefined : error instanceof Error ? error.message : `${error}`;
    const result = { name, fault: text?.split('\n')[0], isSkipped };
    results.push(result);
    onResult(result);
  }
  return results;
};
