import { createSieve } from './relay/accept.js';
import type { ConnectionInfo } from './relay/address.js';
import { allow, answerOf, answerOfNothing, refusalOf } from './relay/answer.js';
import { type ForwardAnswer, toService } from './relay/forward.js';
import { type Checks, jobOf, type ServicePath } from './relay/job.js';
import { createLimits } from './relay/limits.js';
import { checkOptions, type RelayOptions } from './relay/options.js';
import { createAccount } from './relay/report.js';
import { isBeacon, Refusal, type RelayRequest, readBody } from './relay/request.js';
import { createReserve } from './relay/reserve.js';
import { forwardBeacon, longestForwarding } from './relay/retry.js';
import { memorySeen } from './relay/seen.js';
import { createSignatureCheck } from './relay/signature.js';
import { renewedCookie } from './relay/visitorCookie.js';
import { RELAY_HEADER } from './wire.js';

export type { Accept, AcceptableEvent, AcceptContext } from './relay/accept.js';
export type { AddressOptions, ConnectionInfo } from './relay/address.js';
export { ForwardError } from './relay/answer.js';
export {
  type Forward,
  type ForwardAnswer,
  type ForwardRequest,
  type ServiceAddress,
  toService,
} from './relay/forward.js';
export { type Buckets, type LimitOptions, memoryBuckets, type Rate, redisBuckets, type Take } from './relay/limits.js';
export { toNodeHandler } from './relay/node.js';
export type { RelayOptions } from './relay/options.js';
export type { RelayReport } from './relay/report.js';
export type { RelayRequest } from './relay/request.js';
export { memorySeen, type RedisCommand, redisSeen, type Seen, type SeenOptions, type SeenState } from './relay/seen.js';
export { signPrimaryKey } from './relay/signature.js';
export type { VisitorCookieOptions } from './relay/visitorCookie.js';

/** A handler of web requests, for Node (`toNodeHandler`), Deno, Bun and edge workers. Its promise never rejects. */
export interface Relay {
  /**
   * @param connection where the request comes from. `toNodeHandler` passes it. Without it, the relay has no limit for each
   * address, unless `limits.trustedProxies` is set
   */
  (request: RelayRequest, connection?: ConnectionInfo): Promise<Response>;
  /**
   * Answers new requests 503 from now on. Call it before the server closes.
   *
   * @returns resolves when all requests in flight have been answered
   * @example
   * process.once('SIGTERM', () => relay.close());
   */
  close(): Promise<void>;
}

const utf8 = new TextEncoder();

const CLOSING = new Refusal(503, 'this relay is closing', 1);

/**
 * Creates a relay: a handler on your own origin that holds the service's key. It serves the service's three paths below
 * any prefix, checks each request, and forwards it with `Authorization`. docs/relay.md explains it.
 *
 * @throws TypeError for a missing or invalid option: it names the option and what was expected
 * @example
 * const relay = createRelay({ baseUrl: 'https://service.example', apiKey: process.env.API_KEY });
 * app.all('/clew/*', (c) => relay(c.req.raw));
 */
export const createRelay = (options: RelayOptions): Relay => {
  checkOptions(options);
  const { baseUrl = '', eventsUrl = baseUrl, apiKey = '', identitySecret, allowedOrigins } = options;
  const { maxBodyBytes = 102_400, maxBatchEvents = 500, bodyTimeout = 30_000, timeout = 10_000 } = options;
  const { limits = {} } = options;
  const { maxForwards = 1000 } = limits;
  const { reportInterval = 60_000, seen = memorySeen({ maxPending: longestForwarding(timeout) }) } = options;
  const forward = options.forward ?? toService({ baseUrl, eventsUrl, apiKey, timeout, fetch: options.fetch });
  const checks: Checks = {
    isSigned: identitySecret === undefined ? undefined : createSignatureCheck(identitySecret),
    allowUnsignedIdentify: options.allowUnsignedIdentify === true,
    allowUnsignedUpsert: options.allowUnsignedUpsert === true,
    allowedProperties: options.allowedProperties,
    maxBatchEvents,
  };
  /** The exception or rejection of a listener must not affect the answer. */
  const notify = <T>(listener: ((value: T) => unknown) | undefined, value: T) =>
    void (async () => listener?.(value))().catch(() => {});
  const onError = (error: unknown) => notify(options.onError, error);
  const account = createAccount((report) => notify(options.onReport, report), reportInterval);
  const reserve = createReserve(seen, timeout, onError);
  const sieve = createSieve(options.accept, options.allowedEvents, onError);
  const letIn = createLimits(limits, onError);
  const underWay = new Set<Promise<unknown>>();
  let isClosing = false;
  /** Requests that are being forwarded. */
  let forwards = 0;
  /** Ends the reading of each request whose body has not arrived in full. */
  const reading = new Set<(reason: Refusal) => void>();

  /** Rejects if the relay closes before the whole body has arrived, or if that takes too long: that request was not served. */
  const read = (request: RelayRequest): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      if (isClosing) return reject(CLOSING);
      reading.add(reject);
      const late = new Refusal(408, `expected the whole body within ${bodyTimeout} ms`);
      const timer = setTimeout(reject, bodyTimeout, late);
      readBody(request, maxBodyBytes)
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(timer);
          reading.delete(reject);
        });
    });

  /** The answer of the service, or of `forward`. */
  const send = async (path: ServicePath, body: string, isFromBeacon: boolean): Promise<ForwardAnswer> => {
    // `JSON.parse` and `JSON.stringify` make 22 characters of 1e21, and the service has the same limit as the relay.
    if (3 * body.length > maxBodyBytes && utf8.encode(body).length > maxBodyBytes)
      throw new Refusal(413, `expected events of at most ${maxBodyBytes} bytes as the relay writes them`);
    if (forwards >= maxForwards) throw new Refusal(503, 'the relay is busy', 1);
    forwards++;
    try {
      const request = { path, body };
      return await (isFromBeacon ? forwardBeacon(forward, request, () => isClosing) : forward(request));
    } catch (error) {
      onError(error instanceof Refusal ? error.cause : error);
      throw error instanceof Refusal ? error : new Refusal(502, 'the relay could not forward the request', 1);
    } finally {
      forwards--;
    }
  };

  const serve = async (request: RelayRequest, connection: ConnectionInfo): Promise<Response> => {
    const { admit } = await letIn(request, connection);
    if (request.method === 'OPTIONS') return new Response(null, { status: 204 });
    const job = await jobOf(new URL(request.url).pathname, await read(request), checks);
    const visitors = job.events.map(({ came }) => came.correlationValue);
    await admit(visitors, job.rejected.length);
    const sifted = await sieve(job.events, { ...connection, request });
    const path = job.path;
    const rejected = [...job.rejected, ...sifted.rejected];
    const { events, end } = await reserve(sifted.events);
    account.count('repeats', sifted.events.length - events.length);
    account.count('rejected', rejected.length);
    let isTaken = false;
    try {
      const body = job.bodyOf(events);
      if (body === undefined) return answerOfNothing(rejected);
      const answer = await send(path, body, isBeacon(request));
      isTaken = answer.ok;
      return await answerOf(answer, rejected, apiKey, onError);
    } finally {
      if (isTaken) account.taken(events.map(({ came }) => came));
      await end(isTaken ? 'confirm' : 'release');
    }
  };

  const handle = async (request: RelayRequest, connection: ConnectionInfo): Promise<Response> => {
    const origin = request.headers.get('Origin');
    const isAllowed = origin !== null && allowedOrigins?.includes(origin);
    let response: Response;
    try {
      if (isClosing) throw CLOSING;
      if (origin !== null && allowedOrigins && !isAllowed)
        throw new Refusal(403, `Origin: ${origin} is not in allowedOrigins`);
      response = await serve(request, connection);
      const renewed = options.visitorCookie && renewedCookie(request, options.visitorCookie);
      if (renewed) response.headers.set('Set-Cookie', renewed);
    } catch (error) {
      response = refusalOf(error);
    }
    account.emitIfDue();
    // The tracker confirms events only by it.
    response.headers.set(RELAY_HEADER, '1');
    response.headers.set('X-Content-Type-Options', 'nosniff');
    // After 408 the rest of the body is on its way, and nobody waits for it.
    if (isClosing || response.status === 408) response.headers.set('Connection', 'close');
    return isAllowed ? allow(origin, response) : response;
  };

  const relay = (request: RelayRequest, connection: ConnectionInfo = {}): Promise<Response> => {
    const handled = handle(request, connection).finally(() => underWay.delete(handled));
    underWay.add(handled);
    return handled;
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    for (const end of reading) end(CLOSING);
    await Promise.all(underWay);
    account.emit();
  };
  return Object.assign(relay, { close });
};
