import { v4 as uuid } from 'uuid';
import { createLedger } from './api/ledger.js';
import type { Settings } from './api/options.js';
import { createSignals, type Trace } from './api/signals.js';
import type { Tracker } from './api/types.js';
import { createDelivery, linkNameOf, MOST_SETTLED } from './courier/courier.js';
import { createRequests } from './courier/requests.js';
import { fetchAtEnd, fetchTransport, gzip } from './courier/transport.js';
import {
  CALLS,
  CHANGED,
  carriedKeys,
  carriedList,
  carry,
  HINT,
  ITEMS,
  OLD_ID,
  PAGE,
  SETTLED,
  TAB,
  VISIT,
} from './outbox/carryOver.js';
import { createJournal } from './outbox/journal.js';
import { createQueue } from './outbox/queue.js';
import { createStore } from './outbox/store.js';
import { createChannel } from './page/channel.js';
import { pageContext } from './page/context.js';
import { watchLifecycle } from './page/life.js';
import { createPlugins } from './page/plugins.js';
import { draftEvent, draftUpsert, type ItemText, idOf, isEvent, isIdentify, isOlder, stamp } from './recorder/event.js';
import type { Step } from './recorder/prepare.js';
import { createRecorder } from './recorder/recorder.js';
import type { Call, Finished } from './visitor/calls.js';
import { createVisitor, VISITOR } from './visitor/visitor.js';
import { IDENTIFY, parseJson } from './wire.js';

/** Names of so many pages that have left are journaled, the latest. */
const MOST_LEFT = 9;
/** Bytes of the page's keep-alive requests in flight: its trackers share the browser's quota. */
const FLIGHT = { bytes: 0 };

/**
 * The tracker itself: the only place that knows every part.
 *
 * @param steps what an event goes through in the call that tracks it
 * @param clock when an event happens, in ms since the epoch; only the replay of earlier calls needs another one
 * @param replayedId the id of the event that is being replayed, if it has one
 */
export const startTracker = (
  settings: Settings,
  steps: readonly Step[],
  clock: () => number = Date.now,
  replayedId: () => string | undefined = () => undefined,
): Tracker => {
  const { storageName: service, apiKey, transport = fetchTransport } = settings;
  const { cookieDomain: elsewhere, linkDomains } = settings;
  const leftKey = `${TAB} ${service}`;
  /** Names this page's rows in the store, and its journal. */
  const page = uuid();
  /** This page's name among those who may hold the lease. */
  let tab = '';
  const [on, emit] = createSignals(settings.debug);
  const fail = (message: string | undefined) => emit('error', () => new Error(`clew: ${message}`));
  /** Reports what was thrown, also if it is no error. */
  const tellOf = (error: unknown) => fail((error as Error | undefined)?.message ?? 'unknown');
  /** Returns what `run` returns, or '' if it throws: an app's object may have getters that throw. */
  const attempt = <T>(run: () => T): T | '' => {
    try {
      return run();
    } catch (error) {
      tellOf(error);
      return '';
    }
  };
  const [counts, begin, endAll, endUnseen] = createLedger(emit);
  const trace = (make: () => Trace) => emit('trace', make);
  const idsOf = (items: readonly ItemText[]) => items.map(idOf);
  /** There is none where an app's tests run without a browser. */
  const { document } = globalThis as { document?: Document & { prerendering?: boolean } };

  const store = settings.store ?? createStore(fail);
  const journal = createJournal(service, page);
  const queue = createQueue({
    store,
    journal,
    service,
    page,
    limits: settings,
    pages: () => visitor.pages(),
    onStored(items) {
      if (items[0]) trace(() => ({ step: 'stored', uuids: idsOf(items) }));
    },
    onSize: (by) => channel.post(by),
  });
  const requestOf = createRequests(settings);
  const singles = new Set<string>();
  /** How many events of this page load each visitor id has. */
  let numbers: Record<string, number> = {};

  const end: typeof endAll = (texts, reason) => {
    endAll(texts, reason);
    if (reason && reason !== 'consent') for (const text of texts.filter(isIdentify)) disown(text);
  };
  /** A dropped `$identify` counts as never sent. */
  const disown = (text: ItemText) => {
    const { correlationValue, payload } = JSON.parse(text);
    const key: unknown = payload?.distinct_id;
    if (typeof key === 'string') enter({ dropped: correlationValue, key });
  };
  /** Calls of a page that unloads are handed over at the end of the microtask. */
  const enter = (call: Call) => {
    visitor.enter(call);
    if (visitor.isAway()) queueMicrotask(carryAll);
  };

  const channel = createChannel(`clew ${service}`, (message) => {
    if (typeof message === 'boolean') answer(message);
    else if (typeof message === 'number') queue.receive(message);
    else if ('thread' in message) visitor.receive(message);
    else courier.receive(...message);
  });

  const courier = createDelivery({
    store,
    queue,
    service,
    tab: () => tab,
    hasLeft: (name) => carriedList(leftKey).includes(name),
    flight: FLIGHT,
    singles,
    limits: settings,
    isDirect: !!apiKey,
    pack: async (body) => (settings.compress ? gzip(body) : undefined),
    send(...sent) {
      const answer = transport(requestOf(...sent));
      const [{ items, path, bytes }, leaving, packed] = sent;
      if (answer) trace(() => ({ step: 'sent', uuids: idsOf(items), path, bytes, gzip: packed?.length, leaving }));
      // A relay sets the cookie again that came with the request: meanwhile the visitor may be another one, or have refused.
      if (answer && elsewhere) answer.then(tellHosts, tellHosts);
      return answer;
    },
    // Somebody else's transport knows of answers only.
    defer: (batch) => (settings.transport ? () => {} : fetchAtEnd(requestOf(batch, true))),
    onError: fail,
    onReport: channel.post,
    onAnswer: (uuids, answer) => trace(() => ({ step: 'answered', uuids, ...answer })),
    onLink(link) {
      // Of the leases that pages had when they left, none is left in the store.
      if (link.by === tab) carry(leftKey);
      trace(() => ({ step: 'link', tab, ...link }));
    },
    onSettled(items, rejected) {
      const isRejected = (text: ItemText) => rejected.includes(idOf(text));
      const lost = items.filter(isRejected);
      end(items.filter((text) => !isRejected(text)));
      // Expired events are never sent, so a report has none beside rejected ones.
      end(lost, lost[0] && isOlder(lost[0], settings.maxAge) ? 'expired' : 'rejected');
    },
    onLost(items, reason) {
      // Other code may have written text that only begins like an event.
      const events = items.filter((text) => isEvent(text) && parseJson(text));
      for (const _ of events) begin();
      end(events, reason);
    },
  });

  /** The site's other hosts know of the visitor, too; nothing, after a refusal. */
  const tellHosts = () => elsewhere?.tell(visitor.known(), fail);

  const add = (text: ItemText, isAdopted = false) => {
    const excess = queue.excessOf(text);
    // What another page has left had room there, and perhaps was handed over.
    if (excess && !(isAdopted && excess === 'full')) return end([text], excess);
    queue.add(text);
    courier.added();
  };

  /** Adds the visitor to an event. The numbers show a relay which events are missing. Direct mode sends none. */
  const finished = ([draft, known]: Finished): ItemText => {
    if (!known) return draft;
    const id = known.correlationValue as string | undefined;
    if (!id) return stamp(draft, known);
    const number = visitor.pages();
    if (number) numbers[id] = (numbers[id] ?? 0) + 1;
    return stamp(draft, { seq: apiKey || !number ? undefined : [number, numbers[id]], ...known });
  };

  /** Whether there is something to take: nobody may be identified whom an upsert could concern. */
  const isKnown = (known: unknown) => !!known || fail('setProperties: call identify first');

  const visitor = createVisitor({
    service,
    store,
    journal,
    elsewhere,
    arrive: () => arriveByLink && attempt(arriveByLink),
    take(items) {
      for (const item of items) {
        const [draft, known] = item;
        if (queue.has(idOf(draft)) || !isKnown(known)) continue;
        const text = finished(item);
        if (isIdentify(draft)) {
          begin();
          trace(() => ({ step: 'tracked', event: JSON.parse(text) }));
        }
        add(text);
      }
    },
    adopt(texts) {
      for (const text of texts) {
        if (!isKnown(text) || queue.has(idOf(text))) continue;
        if (isEvent(text)) begin();
        add(text, true);
      }
    },
    settled(isStart) {
      const settled = carriedList(SETTLED) as string[];
      if (isStart) {
        // The page that settled these has left, and posts no report any more.
        courier.receive(settled, settled, []);
        carry(SETTLED);
      }
      return new Set(settled);
    },
    rows() {
      // Until they are stored.
      queue.carry(false);
      return queue.collect();
    },
    measure: queue.measure,
    persist: (entry) => queue.persist([entry]),
    onVisitor: (known) =>
      trace(() => ({ step: 'visitor', visitorId: known.thread, primaryKey: known.keys[service]?.[0] })),
    // Soon, not after the full interval: it proves the link. The database's answer has let the page's first work go ahead.
    onLoad: () => courier.flush(true),
    onChange: channel.post,
    onRefused: (texts) => end(texts, 'consent'),
    onMissed: () => refuse(),
    fail,
  });

  const [arriveByLink, watchLinks] = linkDomains ? linkDomains(service, visitor.known) : [];

  const recorder = createRecorder({
    steps,
    clock,
    replayedId,
    isFull: () => counts.queued > settings.maxQueuedEvents,
    begin,
    // The visitor does not have these calls yet: to look for them among thousands that wait took most of a burst's time.
    end: endAll,
    trace,
    attempt,
    fail: tellOf,
    start: () => visitor.check(),
    take(text, isSingle) {
      if (isSingle) singles.add(idOf(text));
      // An event that is too large is dropped later, when it has its number, so that the relay's report counts it.
      if (queue.excessOf(text, visitor.size()) === 'full') return endAll([text], 'full');
      enter({ text });
    },
    rest(isBurst) {
      visitor.write();
      // A crash drops writes that are queued behind the courier's read or behind a database that is opened again.
      const isHeldUp = !isBurst && (courier.isReading() || !store.isOpen());
      if (visitor.pages() && (isHeldUp || visitor.isBusy())) queue.carry(false);
    },
  });
  const setProperties = (properties: unknown) => {
    const text = attempt(() => draftUpsert(properties));
    if (text) enter({ text });
    visitor.write();
  };

  const start = () => {
    // The browser may discard a prerendered page before the visitor sees it.
    if (document?.prerendering) return document.addEventListener('prerenderingchange', start, { once: true });
    tab = uuid();
    visitor.grant();
  };

  /** A prerendering page does not start any more. */
  const unwait = () => document?.removeEventListener('prerenderingchange', start);

  const refuse = () => {
    recorder.drain();
    visitor.refuse();
    trace(() => ({ step: 'visitor', visitorId: undefined }));
    end(queue.remove([...queue.items.keys()]), 'consent');
    // What is in the store only is erased unread.
    endUnseen(counts.queued, 'consent');
    courier.forget();
    store.clear(service, [VISITOR, linkNameOf(service)]);
    const pages = [PAGE, ITEMS].flatMap((prefix) => carriedKeys(`${prefix} ${service} `));
    for (const key of [HINT, CHANGED, SETTLED, OLD_ID, VISIT, ...[CALLS, TAB].flatMap(carriedKeys), ...pages])
      carry(key);
    tellHosts();
    unwait();
  };

  /** The visitor's answer, given here or in another tab. */
  const answer = (isGranted: boolean) => {
    if (!isGranted) refuse();
    else if (!visitor.isStarted()) start();
  };

  const flush = async (force?: boolean) => {
    await visitor.asked();
    if (visitor.pages()) await courier.flush(force);
  };

  /** What is left is handed over, or carried to the next page. */
  const carryAll = () => {
    if (!visitor.leave()) return store.abort();
    const isHolding = courier.leave();
    visitor.carry();
    // Perhaps the database is not open yet, or does not work for a page that is going away: WebKit's does not.
    queue.carry(true);
    const settled = courier.settled();
    if (settled.size) carry(SETTLED, [...carriedList(SETTLED), ...settled].slice(-MOST_SETTLED));
    if (isHolding) carry(leftKey, [...carriedList(leftKey), tab].slice(-MOST_LEFT));
  };

  const leave = () => {
    recorder.drain();
    unwait();
    carryAll();
    channel.close();
  };

  const unwatch = watchLifecycle(
    (isBack) => {
      recorder.drain();
      // While the page was hidden, another host of the site may have changed the visitor.
      visitor.check(isBack);
      flush(isBack);
    },
    leave,
    () => {
      channel.reopen();
      courier.restore();
      tab = uuid();
      numbers = {};
      visitor.restore();
    },
  );

  // Nothing is erased: perhaps the visitor's own answer is still to come, and has come on earlier pages.
  if (settings.respectGpc && (globalThis.navigator as { globalPrivacyControl?: boolean })?.globalPrivacyControl)
    visitor.refuse();
  else if (settings.consent === 'granted') start();

  const tracker: Tracker = {
    track: (event, payload?: unknown) => recorder.track(event, payload),
    trackNow(event, payload?: unknown) {
      recorder.track(event, payload, true);
      recorder.drain();
      return flush();
    },
    identify(primaryKey, properties, options) {
      recorder.drain();
      const { signature } = options ?? {};
      if (typeof primaryKey !== 'string' || !primaryKey || typeof (signature ?? '') !== 'string')
        return fail('identify: expected a non-empty string');
      enter({
        text: draftEvent(clock(), IDENTIFY, JSON.stringify({ distinct_id: primaryKey }), replayedId()),
        fresh: uuid(),
        key: primaryKey,
        // Direct mode needs no signature.
        signature: apiKey ? undefined : signature,
      });
      visitor.write();
      if (properties) setProperties(properties);
    },
    setProperties(properties) {
      recorder.drain();
      setProperties(properties);
    },
    page: (overrides) => {
      recorder.track('page_view', { ...attempt(pageContext), ...attempt(() => ({ ...overrides })) });
    },
    reset() {
      recorder.drain();
      enter({ fresh: uuid() });
      visitor.write();
    },
    consent(isGranted) {
      recorder.drain();
      if (typeof isGranted !== 'boolean') return fail('consent: expected a boolean');
      answer(isGranted);
      channel.post(isGranted);
    },
    flush() {
      recorder.drain();
      return flush(true);
    },
    correlationValue: visitor.visitorId,
    stats: () => structuredClone(counts),
    on,
    stop() {
      unplug();
      unwatch();
      leave();
    },
  };

  const [watch, unplug] = createPlugins([settings.pageViews, settings.clicks, watchLinks], tracker, attempt);
  // Plugins do not run while the page is prerendering.
  if (document?.prerendering) document.addEventListener('prerenderingchange', watch, { once: true });
  else watch();
  return tracker;
};
