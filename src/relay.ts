import { createSieve, NOT_ALLOWED } from './relay/accept.js';
import type { ConnectionInfo } from './relay/address.js';
import { allow, answerOf, answerOfNothing, refusalOf, withCounts, withStates } from './relay/answer.js';
import { bodyFor } from './relay/body.js';
import { memoryBooks } from './relay/bookStore.js';
import { createBooks, engineOf } from './relay/books.js';
import { createBudget, type Share } from './relay/budget.js';
import { createClocks, type Reading, readingIn } from './relay/clocks.js';
import { deliveredOf, type Fate, factsOf, reasonOfJob, reasonOfSieve } from './relay/facts.js';
import { isOk, toService } from './relay/forward.js';
import { createForwarding } from './relay/forwarding.js';
import { createHealth, type Health } from './relay/health.js';
import { createIdentityCheck, IDENTITY_FAULTS } from './relay/identity.js';
import { acceptRepeats, type Checks, type Job, jobOf, type RelayedEvent } from './relay/job.js';
import { createLimits } from './relay/limits.js';
import { createLog } from './relay/log.js';
import { createMetrics } from './relay/metrics.js';
import { checkOptions, type RelayOptions } from './relay/options.js';
import { answerToProbe } from './relay/probes.js';
import { createReading } from './relay/reading.js';
import { createReceipts, idInAddress, idInBody, type Question, questionsIn, type Receipt } from './relay/receipts.js';
import { createAccount } from './relay/report.js';
import { isBeacon, Refusal, type RelayRequest } from './relay/request.js';
import { createReserve, reserveEvents } from './relay/reserve.js';
import { longestForwarding } from './relay/retry.js';
import { memorySeen } from './relay/seen.js';
import { createSenders } from './relay/sender.js';
import { loadsIn, type Statement, statementsIn } from './relay/statements.js';
import { renewedCookie } from './relay/visitorCookie.js';
import { inTime } from './service/inTime.js';
import { HANDOVER, RELAY_HEADER, UPSERT_PATH, type WireEvent } from './wire.js';

export type { Accept, AcceptableEvent, AcceptContext } from './relay/accept.js';
export type { AddressOptions, ConnectionInfo } from './relay/address.js';
export { ForwardError } from './relay/answer.js';
export type { BookChange, BookStore } from './relay/bookStore.js';
export type { BookTotals } from './relay/books.js';
export { catalogue } from './relay/catalogue.js';
export {
  type Forward,
  type ForwardAnswer,
  type ForwardRequest,
  type ServiceAddress,
  toService,
} from './relay/forward.js';
export type { Health } from './relay/health.js';
export type { IdentityKeys, PrivateKey, PublicKey, SecretKey, SigningKeys } from './relay/identityKeys.js';
export { type Buckets, type LimitOptions, memoryBuckets, type Rate, redisBuckets, type Take } from './relay/limits.js';
export type { Logger, LogLine } from './relay/log.js';
export { toNodeHandler } from './relay/node.js';
export type { RelayOptions } from './relay/options.js';
export type { RelayReport } from './relay/report.js';
export type { RelayRequest } from './relay/request.js';
export { memorySeen, type RedisCommand, redisSeen, type Seen, type SeenOptions, type SeenState } from './relay/seen.js';
export type { BotOptions, EnrichOptions } from './relay/sender.js';
export { signPrimaryKey } from './relay/signature.js';
export { type IdentityClaims, signIdentity } from './relay/signIdentity.js';
export type { VisitorCookieOptions } from './relay/visitorCookie.js';
export type { Properties } from './wire.js';

/** A handler of web requests, for Node (`toNodeHandler`), Deno, Bun and edge workers. The returned promise never rejects. */
export interface Relay {
  /**
   * @param connection the address of the client. `toNodeHandler` passes it. Without it, the relay has no limit for each
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
  /** Resolves to whether the relay works. `GET …/health` answers the same. */
  health(): Promise<Health>;
  /** The counts and durations since the relay's start, as OpenMetrics text. */
  metrics(): string;
}

const DAY = 86_400_000;
/**
 * How many tokens a question and a further page load take. The relay looks for a handover several times, and an account may have thousands
 * of ranges.
 */
const FURTHER = 10;
/** How long an answer waits for a report, and metrics for the totals, in ms. */
const LONGEST_REPORT = 1000;
/** Resolves once the work has ended, or is late. */
const soon = (work: Promise<void>): Promise<void> => inTime(work, LONGEST_REPORT, 'seen').catch(() => {});
const CLOSING = new Refusal(503, 'this relay is closing', 1);

/**
 * Creates a relay: a handler on your own origin that holds the service's key. The relay serves the service's three paths
 * below any prefix, checks each request, and forwards it with `Authorization`. docs/relay.md explains the relay.
 *
 * @throws TypeError for a missing or invalid option. The error names the option and the expected value.
 * @example
 * const relay = createRelay({ baseUrl: 'https://service.example', apiKey: process.env.API_KEY });
 * app.all('/clew/*', (c) => relay(c.req.raw));
 */
export const createRelay = (options: RelayOptions): Relay => {
  checkOptions(options);
  const { baseUrl = '', eventsUrl = baseUrl, apiKey = '', allowedOrigins } = options;
  const { maxBodyBytes = 102_400, maxBatchEvents = 500, bodyTimeout = 30_000, timeout = 10_000 } = options;
  const { limits = {}, metricsPath } = options;
  const { maxForwards = 1000, maxBytes = 67_108_864 } = limits;
  const { reportInterval = 60_000, seen = memorySeen({ maxPending: longestForwarding(timeout) }) } = options;
  /** The exception or rejection of a listener must not affect the answer. */
  const notify = <T>(listener: ((value: T) => unknown) | undefined, value: T) =>
    void (async () => listener?.(value))().catch(() => {});
  const metrics = createMetrics();
  const { logger } = options;
  const log = createLog(logger && ((line) => notify(logger, line)), apiKey);
  const onError = (error: unknown) => {
    notify(options.onError, error);
    log.error(error);
  };
  const checks: Checks = {
    checkIdentity: createIdentityCheck(options.identitySecret, options.identityKeys, onError),
    isTokenExpected: options.identityKeys !== undefined,
    onRefusal(fault) {
      metrics.refusedIdentity(fault);
      log.warn(`identity refused: ${IDENTITY_FAULTS[fault]}`);
    },
    allowUnsignedIdentify: options.allowUnsignedIdentify === true,
    allowUnsignedUpsert: options.allowUnsignedUpsert === true,
    allowedProperties: options.allowedProperties,
    maxBatchEvents,
  };
  const onStoreError = (store: 'seen' | 'buckets') => (error: unknown) => {
    metrics.failure(store);
    onError(error);
  };
  const books = createBooks(seen.books ?? memoryBooks(), timeout, onStoreError('seen'));
  const account = createAccount((report) => notify(options.onReport, report), reportInterval, books);
  const reserve = createReserve(seen, timeout, onStoreError('seen'));
  const receipts = createReceipts(seen, timeout, onStoreError('seen'));
  const { correctClock = true, maxPast = 60 * DAY, maxFuture = DAY } = options;
  const onClockError = onStoreError('seen');
  const timed = createClocks({ correctClock, maxPast, maxFuture, seen, timeout, onError: onClockError });
  const { check, answered: noteAnswer } = createHealth(seen);
  const sieve = createSieve(options.accept, options.allowedEvents, timeout, onError);
  const senderOf = createSenders(options.enrich ?? {}, options.bots, limits, onError);
  const letIn = createLimits(limits, onStoreError('buckets'), log.warn, !!options.enrich?.address);
  const underWay = new Set<Promise<unknown>>();
  let isClosing = false;
  const openShare = createBudget(maxBytes);
  const { read, close: endReading } = createReading(maxBodyBytes, bodyTimeout, onError);
  const { send, inFlight } = createForwarding({
    forward: options.forward ?? toService({ baseUrl, eventsUrl, apiKey, timeout, fetch: options.fetch }),
    timeout,
    maxForwards,
    isClosing: () => isClosing,
    onAnswer(status, ms) {
      noteAnswer(status);
      metrics.forward(status, ms);
    },
    onError,
  });
  const health = () => check(isClosing);
  const metricsText = () => metrics.text(inFlight(), books.totals());
  /** With what other relays have counted, if the store answers soon. */
  const freshMetrics = async () => {
    await soon(books.refresh());
    return metricsText();
  };

  const readJob = async (request: RelayRequest, url: URL, share: Share) => {
    try {
      const body = await read(request, share);
      const job = await jobOf(url.pathname, body, checks);
      const id = idInBody(body);
      // Both are reserved in `seen`: the event would wait for the end of its own request.
      const ids = [id, idInAddress(url)];
      if ([...job.events, ...job.doubted].some(({ came: { uuid } }) => uuid !== undefined && ids.includes(uuid)))
        throw new Refusal(400, `${HANDOVER}: expected an id that no event of the request has`);
      return {
        job,
        id,
        questions: questionsIn(body),
        reading: readingIn(body),
        statements: statementsIn(body),
      };
    } catch (error) {
      // Any other exception comes from a body that broke off, or from a field nested too deeply for `JSON.stringify`.
      throw error instanceof Refusal ? error : new Refusal(400, `unreadable body: ${error}`);
    }
  };

  const isForeign = (origin: string | null) => origin !== null && allowedOrigins?.includes(origin) === false;

  /** Forwards new events. With `isWhole`, the relay has refused none, so the service has all events of the request. */
  const work = async (
    received: Job,
    request: RelayRequest,
    connection: ConnectionInfo,
    { reading, statements }: { reading: Reading | undefined; statements: readonly (Statement | undefined)[] },
    arrivedAt: number,
    /** Whether to end the retries of a beacon. */
    isOver: () => Promise<boolean>,
  ): Promise<{ response: Response; isWhole: boolean }> => {
    // `seen` is asked for both at a time: a reservation does not wait.
    const timing = timed(received.events, reading, arrivedAt);
    const { events: fresh, repeats, end } = await reserveEvents(reserve, received.events, received.doubted);
    const job = acceptRepeats(received, repeats);
    for (const { doubt } of job.doubted) if (doubt.fault) checks.onRefusal(doubt.fault);
    metrics.event('duplicate', repeats.length);
    account.count('repeats', repeats.length);
    let taken: readonly RelayedEvent[] = [];
    let moved: ReadonlySet<WireEvent> = new Set();
    let fate: Fate | undefined = { isServed: false, taken, repeats, refused: [] };
    let counts: Awaited<ReturnType<typeof books.add>> = new Map();
    let response: Response;
    let isWhole = false;
    try {
      const correct = await timing;
      const right = correct(fresh);
      const { rejected: mistimed } = right;
      moved = right.moved;
      // After the reservation: an event that the service has is answered as a success, whatever `accept` decides now.
      const sender = senderOf(request, connection);
      const { events, dropped, rejected: notAccepted } = await sieve(right.events, { ...connection, request }, sender);
      const rejected = [...job.rejected, ...mistimed, ...notAccepted];
      const others = notAccepted.filter(({ reason }) => reason !== NOT_ALLOWED).length;
      metrics.rejected([...job.rejected, ...mistimed].map(({ reason }) => reason));
      metrics.dropped('event', dropped.length - others);
      metrics.dropped(sender.isRefused ? 'bots' : 'accept', others);
      if (sender.isBot) metrics.ofBots(fresh.length);
      account.count('rejected', rejected.length);
      const body = bodyFor(job, events, maxBodyBytes, sender.bare);
      const answer = body === undefined ? undefined : await send({ path: job.path, body }, isBeacon(request), isOver);
      const isServed = !answer || isOk(answer);
      if (answer && isServed) taken = events;
      const refused: Fate['refused'] = [
        ...job.refused.map((event, at) => [event, reasonOfJob(job.rejected[at]?.reason)] as const),
        ...right.dropped.map(({ came }) => [came, 'timestamp'] as const),
        ...dropped.map(({ came }, at) => [came, reasonOfSieve(notAccepted[at]?.reason, sender.isRefused)] as const),
      ];
      // These facts of an event may be the first ones: another request may be slower, or its write has failed.
      const again = correct(deliveredOf(repeats, fresh, taken));
      if (isServed) fate = { isServed, taken, repeats: [...again.events, ...again.dropped], refused };
      isWhole = isServed && !rejected[0];
      response = answer ? answerOf(answer, rejected, onError) : answerOfNothing(rejected);
    } catch (error) {
      // A request that is refused as a whole changes no account.
      if (error instanceof Refusal && error.status < 500) fate = undefined;
      throw error;
    } finally {
      account.count('taken', taken.length);
      const corrected = taken.filter(({ came }) => moved.has(came)).length;
      account.count('corrected', corrected);
      metrics.corrected(corrected);
      metrics.event('forwarded', taken.length);
      await end(taken);
      // After the answer of the service: the events and the statements of the request belong together.
      const engine = engineOf(request.headers.get('User-Agent'));
      const facts = fate && factsOf(statements, fate, engine, reading, arrivedAt);
      if (facts?.size) account.changed();
      if (facts) counts = await books.add(facts);
    }
    const stated = statements.map((one) => one && counts.get(one.load));
    return { response: withCounts(response, stated), isWhole };
  };

  const serve = async (
    request: RelayRequest,
    url: URL,
    connection: ConnectionInfo,
    share: Share,
  ): Promise<Response> => {
    if (isClosing) throw CLOSING;
    const arrivedAt = Date.now();
    const { admit } = await letIn(request, connection);
    const origin = request.headers.get('Origin');
    if (isForeign(origin)) throw new Refusal(403, `Origin: ${origin} is not in allowedOrigins`);
    if (request.method === 'OPTIONS') return new Response(null, { status: 204 });
    const opened: Receipt[] = [];
    const open = (id: string | undefined) => id !== undefined && opened.push(receipts.open(id));
    let isTaken = false;
    let response: Response;
    let questions: readonly Question[];
    try {
      // Before the body has arrived: the visitor's next page may ask meanwhile.
      open(idInAddress(url));
      const read = await readJob(request, url, share);
      const { job, statements } = read;
      questions = read.questions;
      open(read.id);
      metrics.event('received', job.events.length + job.rejected.length);
      const visitors = job.events.map(({ came }) => came.correlationValue);
      // An ordinary request has the book of its own page load.
      const further = questions.length + Math.max(loadsIn(statements) - 1, 0);
      await admit(visitors, job.rejected.length + further * FURTHER);
      // Events have ids of their own. Older properties must not overwrite newer ones.
      const claimAll = async () => {
        if (job.path === UPSERT_PATH) for (const { claim } of opened) await claim();
      };
      await claimAll();
      const isOver = () =>
        claimAll().then(
          () => false,
          () => true,
        );
      const done = await work(job, request, connection, read, arrivedAt, isOver);
      isTaken = done.isWhole;
      response = done.response;
    } finally {
      await Promise.all(opened.map(({ end }) => end(isTaken)));
    }
    // After the reservations: a handover that is being served may wait for events of this request.
    let states: Awaited<ReturnType<typeof receipts.ask>>;
    try {
      states = await receipts.ask(questions);
    } finally {
      metrics.asked(questions, states);
    }
    return withStates(response, states);
  };

  const handle = async (request: RelayRequest, connection: ConnectionInfo): Promise<Response> => {
    const start = performance.now();
    let path = '';
    let response: Response;
    let probe: Response | Promise<Response> | undefined;
    const share = openShare();
    try {
      // Bun, Deno and workers make the address of the client's `Host`.
      if (!URL.canParse(request.url)) throw new Refusal(400, 'expected a valid Host');
      const url = new URL(request.url);
      path = url.pathname;
      // Before the limits: a supervisor would end a relay whose probe gets 429, or 503 while it closes.
      probe = answerToProbe(request, path, health, freshMetrics, metricsPath);
      response = await (probe ?? serve(request, url, connection, share));
      const renewed = options.visitorCookie && renewedCookie(request, options.visitorCookie);
      if (renewed) response.headers.set('Set-Cookie', renewed);
    } catch (error) {
      const isRefusal = error instanceof Refusal;
      if (!isRefusal) onError(error);
      response = refusalOf(isRefusal ? error : new Refusal(500, 'the relay has failed', 1));
      if (isRefusal && error.status === 429) metrics.limited();
    } finally {
      share.free();
    }
    const ms = Math.round(performance.now() - start);
    // A supervisor probes all the time, and so can any client.
    if (!probe) {
      metrics.request(response.status, ms);
      log.request(response.status, path, ms);
    }
    // A worker ends what the answer does not wait for.
    await soon(account.emitIfDue());
    // The tracker confirms events only by it.
    response.headers.set(RELAY_HEADER, '1');
    response.headers.set('X-Content-Type-Options', 'nosniff');
    // After 408 the rest of the body still arrives, and the relay does not read it.
    if (isClosing || response.status === 408) response.headers.set('Connection', 'close');
    const origin = request.headers.get('Origin');
    return origin !== null && allowedOrigins?.includes(origin) ? allow(origin, response) : response;
  };

  const relay = (request: RelayRequest, connection: ConnectionInfo = {}): Promise<Response> => {
    const handled = handle(request, connection).finally(() => underWay.delete(handled));
    underWay.add(handled);
    return handled;
  };
  const close = async (): Promise<void> => {
    isClosing = true;
    endReading(CLOSING);
    await Promise.all(underWay);
    await books.close();
    await account.emit();
  };
  return Object.assign(relay, {
    close,
    health,
    metrics() {
      // For the next time: other relays count, too.
      books.refresh();
      return metricsText();
    },
  });
};
