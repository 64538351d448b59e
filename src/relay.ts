import { type ForwardAnswer, type ForwardRequest, toService } from './relay/forward.js';
import { type Checks, type Job, jobOf } from './relay/job.js';
import { checkOptions, type RelayOptions } from './relay/options.js';
import { createAccount } from './relay/report.js';
import { isBeacon, Refusal, type RelayRequest, readBody } from './relay/request.js';
import { createReserve, pause, uuidsOf } from './relay/reserve.js';
import { memorySeen } from './relay/seen.js';
import { createSignatureCheck } from './relay/signature.js';
import { renewedCookie } from './relay/visitorCookie.js';
import { parseJson, RELAY_HEADER } from './wire.js';

export {
  type Forward,
  type ForwardAnswer,
  type ForwardRequest,
  type ServiceAddress,
  toService,
} from './relay/forward.js';
export { toNodeHandler } from './relay/node.js';
export type { RelayOptions } from './relay/options.js';
export type { RelayReport } from './relay/report.js';
export type { RelayRequest } from './relay/request.js';
export { memorySeen, type RedisCommand, redisSeen, type Seen, type SeenOptions, type SeenState } from './relay/seen.js';
export { signPrimaryKey } from './relay/signature.js';
export type { VisitorCookieOptions } from './relay/visitorCookie.js';

/** A handler of web requests, for Node (`toNodeHandler`), Deno, Bun and edge workers. Its promise never rejects. */
export interface Relay {
  (request: RelayRequest): Promise<Response>;
  /**
   * Answers new requests 503 from now on. Call it before the server closes.
   *
   * @returns resolves when all requests in flight have been answered
   * @example
   * process.once('SIGTERM', () => relay.close());
   */
  close(): Promise<void>;
}

/** A page cannot read the answer to a beacon, so the relay retries a failed beacon after these waits, in ms, or up to half earlier. */
const BEACON_RETRIES = [200, 1000];

/**
 * Whether the service may take the request later. It answers 500 after it has stored the events before a rejected one: to retry
 * would store those again. With `Retry-After` it asks for a longer wait.
 */
const isPassing = ({ status, headers }: ForwardAnswer): boolean =>
  status === 502 || status === 504 || (status === 503 && !headers.get('Retry-After'));

const CLOSING = new Refusal(503, 'this relay is closing', 1);

const json = (status: number, body: unknown) => Response.json(body, { status });

/** Whatever the service answers appears under the site's origin, where it must be no page. */
const asJson = (text: string): string =>
  !text || parseJson(text) !== undefined ? text : JSON.stringify({ message: text });

const allow = (origin: string, response: Response): Response => {
  const headers = {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'content-type, content-encoding',
    'Access-Control-Expose-Headers': `Retry-After, ${RELAY_HEADER}`,
    // As long as Chromium lets it hold: https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Access-Control-Max-Age
    'Access-Control-Max-Age': '7200',
    Vary: 'Origin',
  };
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
};

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
  const { maxBodyBytes = 102_400, maxEvents = 500, bodyTimeout = 30_000, timeout = 10_000 } = options;
  const { reportInterval = 60_000, seen = memorySeen() } = options;
  const forward = options.forward ?? toService({ baseUrl, eventsUrl, apiKey, timeout, fetch: options.fetch });
  const checks: Checks = {
    isSigned: identitySecret === undefined ? undefined : createSignatureCheck(identitySecret),
    allowUnsignedUpsert: options.allowUnsignedUpsert === true,
    maxEvents,
  };
  /** The exception or rejection of a listener must not affect the answer. */
  const tell = <T>(listener: ((said: T) => unknown) | undefined, said: T) =>
    void (async () => listener?.(said))().catch(() => {});
  const account = createAccount((report) => tell(options.onReport, report), reportInterval);
  const fail = (error: unknown, status: number, message: string): Refusal => {
    const isRefusal = error instanceof Refusal;
    tell(options.onError, isRefusal ? error.cause : error);
    return isRefusal ? error : new Refusal(status, message, 1);
  };
  const reserve = createReserve(seen, timeout, (error) =>
    fail(error, 503, 'the relay cannot read which events are confirmed'),
  );
  const underWay = new Set<Promise<unknown>>();
  let isClosing = false;
  /** Ends the reading of each request whose body has not arrived in full. */
  const reading = new Set<(reason: Refusal) => void>();

  const forwardOften = async (request: ForwardRequest, waits: readonly number[]): Promise<ForwardAnswer> => {
    const [wait, ...later] = waits;
    try {
      const answer = await forward(request);
      if (!isPassing(answer) || wait === undefined || isClosing) return answer;
    } catch (error) {
      if (wait === undefined || isClosing) throw fail(error, 502, 'the relay could not forward the request');
    }
    await pause(wait * (1 - Math.random() / 2));
    return forwardOften(request, later);
  };

  /** The relay's answer to the page, made of the service's answer. */
  const answerOf = async (answer: ForwardAnswer, rejected: Job['rejected']): Promise<Response> => {
    const { status } = answer;
    // A proxy's error page may echo the request's headers, and the key with them.
    const text = (await answer.text()).replaceAll(apiKey || '\0', '…');
    const retryAfter = answer.headers.get('Retry-After');
    if (status >= 500)
      throw new Refusal(status === 503 ? 503 : 502, text || `the service answered ${status}`, retryAfter ?? 1, status);
    const response =
      answer.ok && rejected.length
        ? json(status === 204 ? 200 : status, { rejected })
        : new Response(asJson(text) || null, { status });
    if (text) response.headers.set('Content-Type', 'application/json');
    if (retryAfter) response.headers.set('Retry-After', retryAfter);
    return response;
  };

  /** Rejects if the relay closes before the whole body has arrived, or if that takes too long: that request was not served. */
  const read = (request: RelayRequest): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
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

  const serve = async (request: RelayRequest): Promise<Response> => {
    const job = await jobOf(new URL(request.url).pathname, await read(request), checks);
    const { path, events, rejected } = job;
    const fresh = await reserve(events);
    account.count('repeats', events.length - fresh.length);
    account.count('rejected', rejected.length);
    let isTaken = false;
    try {
      const body = job.bodyOf(fresh);
      if (body === undefined) return json(200, { rejected });
      const answer = await forwardOften({ path, body }, isBeacon(request) ? BEACON_RETRIES : []);
      isTaken = answer.ok;
      return await answerOf(answer, rejected);
    } finally {
      if (isTaken) account.taken(fresh.map(({ came }) => came));
      // If this fails, the reservation expires.
      await seen[isTaken ? 'confirm' : 'release'](uuidsOf(fresh)).catch(() => {});
    }
  };

  const refusalOf = (error: unknown): Response => {
    // Any other exception comes from a body that broke off, or from JSON nested too deeply for `JSON.stringify`.
    const refusal = error instanceof Refusal ? error : new Refusal(400, `unreadable body: ${error}`);
    const { status, message, retryAfter, serviceStatus } = refusal;
    const response = json(status, { error: message, status: serviceStatus });
    if (retryAfter !== undefined) response.headers.set('Retry-After', `${retryAfter}`);
    return response;
  };

  const handle = async (request: RelayRequest): Promise<Response> => {
    const origin = request.headers.get('Origin');
    const isAllowed = origin !== null && allowedOrigins?.includes(origin);
    let response: Response;
    try {
      if (isClosing) throw CLOSING;
      if (origin !== null && allowedOrigins && !isAllowed)
        throw new Refusal(403, `Origin: ${origin} is not in allowedOrigins`);
      response = request.method === 'OPTIONS' ? new Response(null, { status: 204 }) : await serve(request);
      const renewed = options.visitorCookie && renewedCookie(request, options.visitorCookie);
      if (renewed) response.headers.set('Set-Cookie', renewed);
    } catch (error) {
      response = refusalOf(error);
    }
    account.tellIfDue();
    // The tracker confirms events only by it.
    response.headers.set(RELAY_HEADER, '1');
    response.headers.set('X-Content-Type-Options', 'nosniff');
    // After 408 the rest of the body is on its way, and nobody waits for it.
    if (isClosing || response.status === 408) response.headers.set('Connection', 'close');
    return isAllowed ? allow(origin, response) : response;
  };

  const relay = (request: RelayRequest): Promise<Response> => {
    const handled = handle(request).finally(() => underWay.delete(handled));
    underWay.add(handled);
    return handled;
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    for (const end of reading) end(CLOSING);
    await Promise.all(underWay);
    account.tell();
  };
  return Object.assign(relay, { close });
};
