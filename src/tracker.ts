import { v4 as uuid } from 'uuid';
import { createLedger } from './api/ledger.js';
import type { Settings } from './api/options.js';
import { createSignals, type Trace } from './api/signals.js';
import type { Tracker } from './api/types.js';
import { createDelivery, MOST_SETTLED, type Report } from './courier/courier.js';
import { ENVELOPE } from './courier/cut.js';
import { createRequests } from './courier/requests.js';
import { fetchAtEnd, fetchTransport, gzip } from './courier/transport.js';
import {
  CALLS,
  CHANGED,
  carried,
  carriedKeys,
  carriedList,
  carry,
  ITEMS,
  SETTLED,
  TAB,
  THREAD,
  VISIT,
} from './outbox/carryOver.js';
import { createCarrier } from './outbox/journal.js';
import { createQueue } from './outbox/queue.js';
import { createStore } from './outbox/store.js';
import { createChannel } from './page/channel.js';
import { pageContext } from './page/context.js';
import { watchLifecycle } from './page/life.js';
import { createPlugins } from './page/plugins.js';
import {
  byteLength,
  draftEvent,
  draftUpsert,
  type ItemText,
  idOf,
  isEvent,
  isName,
  isOlder,
  stamp,
} from './recorder/event.js';
import type { Step } from './recorder/prepare.js';
import { createGate, isThread, type Visitor } from './visitor/visitor.js';
import { IDENTIFY } from './wire.js';

/** A call of `track`, in ms since the tracker's start, with its payload as JSON, and its id if it has one already. */
type Call = [since: number, name: string, payload: string | undefined, isSingle: boolean, id: string | undefined];
/** How many places a call takes in the list of calls: a list for each of them would be garbage, thousands in a burst. */
const FIELDS = 5;

/** Name of the visitor's record in the store. */
const VISITOR = 'visitor';
/**
 * So many calls of a task go their way within the call, and only a burst waits: a transaction that is begun a moment earlier
 * is the one that WebKit completes although the page is going away.
 */
const AT_ONCE = 50;
/** How long (ms) calls are worked on at a time: four times slower, on a cheap phone, that is still no long task. */
const SLICE = 6;
/** In the task that called they are worked on until so long (ms) after the first call: a task of 50 ms is a long one. */
const BURST = 24;
/** A payload of more characters does not wait for its turn. */
const MOST_WAITING = 1e3;
/** Names of so many pages that have left are journaled, the latest. */
const MOST_LEFT = 9;
/** Bytes of the page's keep-alive requests in flight: its trackers share the browser's quota. */
const FLIGHT = { bytes: 0 };
/** Most characters of queued items, however few they are: a page's memory is not ours alone. */
const MOST_QUEUED = 1e7;

/**
 * The tracker itself: the only place that knows every stage.
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
  const { baseUrl: service, apiKey, transport = fetchTransport, maxBatchBytes, maxQueuedEvents } = settings;
  const { cookieDomain: elsewhere, linkDomains } = settings;
  const [arriveByLink, watchLinks] = linkDomains ? linkDomains(service, () => (pages ? candidate : undefined)) : [];
  const itemsPrefix = `${ITEMS} ${service} `;
  const leftKey = `${TAB} ${service}`;
  /** Names this page's rows in the store, and what it carries. */
  const page = uuid();
  /** This page's name among those who may hold the lease. */
  let tab = '';
  const [on, emit] = createSignals(settings.debug);
  const fail = (message: string | undefined) => emit('error', () => new Error(`clew: ${message}`));
  const [counts, begin, end] = createLedger(emit);
  const [enter, open] = createGate((texts) => end(texts, 'consent'));
  const store = settings.store ?? createStore(fail);
  const trace = (make: () => Trace) => emit('trace', make);
  const idsOf = (items: readonly ItemText[]) => items.map(idOf);
  const onStored = (items: readonly ItemText[]) => {
    uncarry(items);
    if (items[0]) trace(() => ({ step: 'stored', uuids: idsOf(items) }));
  };
  const queue = createQueue(store, service, page, settings, () => pages, onStored);
  const [carryItems, uncarry, adopt] = createCarrier(itemsPrefix, page);
  const requestOf = createRequests(settings);
  const singles = new Set<string>();
  let booting: Promise<void> | undefined;
  /** Number of this page load; 0 while the database has not said it, or the visitor does not want to be known. */
  let pages = 0;
  /** Who the visitor is, as far as a page can know that is not to wait for the database. */
  let candidate: Visitor;
  /** The visitor's thread was carried when the page went away, and is no more: perhaps they have refused meanwhile. */
  let isMissing = false;
  let wasCarried = false;
  /** There is none where an app's tests run without a browser. */
  const { document } = globalThis as { document?: Document & { prerendering?: boolean } };

  /** Calls are timed from here: in a list a number that is not small is an object, thousands of them in a burst. */
  const started = Date.now();
  /** What has been tracked in this task, one call behind the other, and how much of it has gone its way. */
  let calls: Call[number][] = [];
  let taken = 0;
  /** How many calls there were in this task. */
  let burst = 0;
  /** Of these, what has to wait for the database: a page may crash meanwhile. */
  const early: ItemText[] = [];
  /** How many events of this page load each thread has. */
  let numbers: Record<string, number> = {};

  const channel = createChannel(`clew ${service}`, (message) => {
    if (typeof message === 'boolean') answer(message);
    else if ('thread' in message) pages && know(message);
    else delivery.hear(...message);
  });

  const delivery = createDelivery({
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
      if (answer && elsewhere) answer.then(tell, tell);
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
      uncarry(items);
      const lost = items.filter(isRejected);
      end(items.filter((text) => !isRejected(text)));
      // Expired events are never sent, so a report has none beside rejected ones.
      end(lost, lost[0] && isOlder(lost[0], settings.maxAge) ? 'expired' : 'rejected');
    },
    onExpired(items) {
      for (const _ of items) begin();
      end(items, 'expired');
    },
  });

  const add = (text: ItemText) => {
    const most = maxBatchBytes - ENVELOPE;
    // A character has at most three bytes: most events need not be counted.
    const isTooLarge = text.length * 3 > most && byteLength(text) > most;
    if (isTooLarge || queue.items.size >= maxQueuedEvents || queue.length() > MOST_QUEUED)
      return end([text], isTooLarge ? 'too-large' : 'full');
    queue.add(text);
    delivery.added();
  };

  /** An event that knows its visitor. A relay sees by the numbers what is missing; a service is not to be bothered with them. */
  const signed = (draft: ItemText, thread: string, signature?: string) => {
    numbers[thread] = (numbers[thread] ?? 0) + 1;
    return stamp(draft, { correlationValue: thread, seq: apiKey ? undefined : [pages, numbers[thread]], signature });
  };

  /** The site's other hosts know of the visitor, too; nothing, after a refusal. */
  const tell = () => elsewhere?.tell(booting && candidate, fail);

  /** From now on the visitor is known, also to a page that has no time to ask the database. */
  const know = (visitor: Visitor) => {
    candidate = visitor;
    carry(THREAD, visitor.thread);
    trace(() => ({ step: 'visitor', thread: visitor.thread, primaryKey: identityIn(visitor)[0] }));
    tell();
    open(visitor);
  };

  /** From now on the visitor is another one; `text` goes into the store with that or not at all. */
  const become = (visitor: Visitor, text?: ItemText) => {
    if (text) {
      begin();
      trace(() => ({ step: 'tracked', event: JSON.parse(text) }));
      add(text);
    }
    carry(CHANGED, visitor);
    queue.persist([[VISITOR, visitor]])?.then((isStored) => {
      // Unless they are another one again.
      if (isStored && candidate === visitor) carry(CHANGED);
    });
    channel.post(visitor);
    know(visitor);
  };

  /** Whatever was thrown, even if it cannot be written itself. */
  const tellOf = (error: unknown) => fail((error as Error | undefined)?.message ?? 'unknown');

  /** What `read` makes, or '' if it throws: reading somebody's object may throw anything. */
  const attempt = <T>(read: () => T): T | '' => {
    try {
      return read();
    } catch (error) {
      tellOf(error);
      return '';
    }
  };

  /** What is tracked goes its way here. */
  const take = (...[since, name, payload, isSingle, id]: Call) => {
    const at = started + since;
    const draft = draftEvent(at, name, payload, id);
    const text = attempt(() => steps.reduce((text, step) => text && step(text, attempt), draft));
    // Of what was dropped nobody is to see more than the name.
    const seen = text || draftEvent(at, name);
    trace(() => ({ step: 'tracked', event: JSON.parse(seen) }));
    if (text) {
      if (isSingle) singles.add(idOf(text));
      enter(({ thread }) => add(signed(text, thread)), text);
      if (booting && !pages) early.push(stamp(text, { correlationValue: candidate.thread }));
      // What a crash finds waiting behind the transaction of a turn, or for a database that was closed, was never stored.
      const isHeldUp = delivery.isReading() || !store.isOpen();
      const heldUp = isHeldUp && burst && burst <= AT_ONCE && queue.items.get(idOf(text));
      if (heldUp) early.push(heldUp);
    } else end([seen], 'filtered');
  };

  /** Every other method begins with it, so that all calls are in order. */
  const drain = (until = Number.POSITIVE_INFINITY) => {
    while (taken < calls.length) {
      if (Date.now() > until) {
        setTimeout(drainSoon);
        break;
      }
      taken += FIELDS;
      take(...(calls.slice(taken - FIELDS, taken) as Call));
    }
    if (early[0]) carryItems(early.splice(0));
    if (taken < calls.length) return;
    calls = [];
    taken = 0;
  };
  /** Lets the page's own work go ahead in between. */
  const drainSoon = (until = Date.now() + SLICE) => {
    burst = 0;
    drain(until);
  };

  /** In a burst, the call itself takes a snapshot and no more: the page's own work goes on. */
  const track = (event: unknown, payload: unknown, isSingle = false) => {
    const at = clock();
    begin();
    const name = isName(event) ? event : '';
    let text: string | undefined;
    try {
      if (!name) throw Error(`track: expected a name other than ${IDENTIFY}`);
      text = JSON.stringify(payload);
    } catch (error) {
      drain();
      tellOf(error);
      return end([draftEvent(at, name)], name ? 'unserialisable' : 'rejected');
    }
    calls.push(at - started, name, text, isSingle, replayedId());
    if (!burst++) Promise.resolve(Date.now() + BURST).then(drainSoon);
    // What a step looks at may be another one in a moment; and what waits is bounded like what is queued.
    const isDue = steps[0] || counts.queued > maxQueuedEvents || (text && text.length > MOST_WAITING);
    if (isDue || (burst <= AT_ONCE && !calls[FIELDS])) drain();
  };

  /** The primary key and its signature, whatever somebody has put there. */
  const identityIn = ({ keys }: Visitor) => [keys[service]].flat();

  const identify = (primaryKey: string, signature?: string) => {
    const text = draftEvent(clock(), IDENTIFY, JSON.stringify({ distinct_id: primaryKey }), replayedId());
    enter((visitor) => {
      const [known, proof] = identityIn(visitor);
      const isKnown = known === primaryKey || elsewhere?.knows(known, primaryKey);
      if (known === primaryKey && (!signature || proof === signature)) return;
      // The service would rename or delete the first person's record if a second one came by the same thread.
      const person = known && !isKnown ? newVisitor(visitor) : visitor;
      const keys = { ...person.keys, [service]: [primaryKey, signature] as const };
      become({ ...person, keys }, isKnown ? undefined : signed(text, person.thread, signature));
    });
  };

  const setProperties = (properties: unknown) => {
    const text = attempt(() => draftUpsert(properties));
    if (!text) return;
    enter((visitor) => {
      const [primary_key, signature] = identityIn(visitor);
      if (typeof primary_key === 'string') add(stamp(text, { primary_key, signature }));
      else fail('setProperties: call identify first');
    });
  };

  /** A visitor of a known thread, or of a new one after that of another. */
  const newVisitor = (before?: Visitor, thread: string = uuid()): Visitor => ({
    thread,
    turn: before ? before.turn + 1 : 0,
    keys: {},
    pages,
  });
  /** Who the visitor is, if other hosts of the site may know better. */
  const meet = (here: Visitor): Visitor => elsewhere?.meet(here, service) ?? here;
  /** Asks the store who the visitor is, and counts the page; nobody, if the thread is missing there, too. */
  const load = async (): Promise<Visitor | undefined> => {
    // Before anything reads the page's address.
    const linked = arriveByLink && attempt(arriveByLink);
    const arrive = (stored?: Visitor) => {
      if (isMissing && !stored) return;
      const known = isThread(stored?.thread) ? stored : candidate;
      const pages = ~~known.pages + 1 || 1;
      const turn = ~~known.turn;
      const changed = carried(CHANGED) as Visitor | undefined;
      const isSame = changed?.thread === known.thread;
      // On a page that did not know how many threads there had been, or after that.
      const isNewer = !isSame && isThread(changed?.thread) && (!changed.pages || ~~changed.turn > turn);
      const here = isNewer ? { ...changed, turn: Math.max(turn + 1, ~~changed.turn) } : { ...known, turn };
      const visitor = meet({ ...here, keys: { ...here.keys, ...(isSame && changed.keys) }, pages });
      return linked ? linked(visitor) : visitor;
    };
    const met = await store.transact([], VISITOR, arrive as (stored?: Visitor) => Visitor);
    if (met) carry(CHANGED);
    return met ?? arrive();
  };

  /** Opens the database and lets in the calls that waited for it. */
  const boot = async () => {
    const since = Date.now();
    const mine = candidate;
    const visitor = await load();
    // Meanwhile the page is going away, or consent was refused.
    if (mine !== candidate) return;
    // A page that comes back from WebKit's back/forward cache has not been told of a refusal.
    if (!visitor?.thread) return forget();
    ({ pages } = visitor);
    if (arriveByLink && visitor.thread !== mine.thread) channel.post(visitor);
    know(visitor);
    // As another tab would have heard it from the page that went.
    const settled = carriedList(SETTLED) as string[];
    delivery.hear(settled, settled, []);
    carry(SETTLED);
    for (const text of adopt(since)) {
      if (queue.items.has(idOf(text))) continue;
      if (isEvent(text)) begin();
      queue.add(text);
    }
    // Soon, not after the full interval: it proves the link. The database's answer has let the page's first work go ahead.
    delivery.flush(true);
  };

  const start = () => {
    // A page that was only loaded to be at hand has not been seen yet, and perhaps never will be.
    if (document?.prerendering) return document.addEventListener('prerenderingchange', start, { once: true });
    const thread = carried(THREAD);
    candidate = meet(newVisitor(undefined, isThread(thread) ? thread : undefined));
    isMissing = wasCarried && !thread;
    if (!isMissing) carry(THREAD, candidate.thread);
    tab = uuid();
    ask();
  };

  /** As on a new page: who the visitor is has to be asked. */
  const ask = () => {
    numbers = {};
    pages = 0;
    open(undefined);
    booting = boot();
  };

  /** A page that nobody has seen yet does not start any more. */
  const unwait = () => document?.removeEventListener('prerenderingchange', start);

  const forget = () => {
    booting = undefined;
    candidate = newVisitor();
    pages = 0;
    open(null);
    trace(() => ({ step: 'visitor', thread: undefined }));
    end(queue.remove([...queue.items.keys()]), 'consent');
    delivery.forget();
    store.clear();
    for (const key of [CHANGED, SETTLED, THREAD, VISIT, ...[CALLS, TAB, itemsPrefix].flatMap(carriedKeys)]) carry(key);
    tell();
    wasCarried = false;
    unwait();
  };

  /** The visitor's answer, given here or in another tab. */
  const answer = (isGranted: boolean) => {
    if (!isGranted) forget();
    else if (!booting) start();
  };

  const flush = async (force?: boolean) => {
    await booting;
    if (pages) await delivery.flush(force);
  };

  /** What is left is handed over, or carried to the next page. */
  const depart = () => {
    wasCarried = !!carried(THREAD);
    if (!pages) {
      // Another one, so that what still comes of booting is void.
      candidate = { ...candidate };
      know(candidate);
    }
    const isHolding = delivery.leave();
    // Perhaps the database is not open yet, or does not work for a page that is going away: WebKit's does not.
    const unsaved = queue.unsaved();
    if (unsaved[0]) carryItems(unsaved);
    const settled = delivery.settled();
    if (settled.size) carry(SETTLED, [...carriedList(SETTLED), ...settled].slice(-MOST_SETTLED));
    if (isHolding) carry(leftKey, [...carriedList(leftKey), tab].slice(-MOST_LEFT));
  };

  const leave = () => {
    drain();
    unwait();
    // Nor does a page that may have been refused write anything before it knows.
    if (!booting) store.abort();
    else if (pages || !isMissing) depart();
    channel.close();
  };

  /** While nobody looked, another host of the site may have made the visitor another one, or identified them. */
  const look = (isBack: boolean) => {
    drain();
    const found = booting && isBack ? meet(candidate) : candidate;
    if (found !== candidate) {
      candidate = found;
      ask();
    }
    flush(isBack);
  };

  const unwatch = watchLifecycle(look, leave, () => {
    channel.reopen();
    delivery.restore();
    // Another tab may have made the visitor another one meanwhile.
    if (booting) start();
  });

  // Nothing is erased: perhaps the visitor's own answer is still to come, and has come on earlier pages.
  if (settings.respectGpc && (globalThis.navigator as { globalPrivacyControl?: boolean })?.globalPrivacyControl)
    open(null);
  else if (settings.consent === 'granted') start();

  const tracker: Tracker = {
    track: (event, payload?: unknown) => track(event, payload),
    trackNow(event, payload?: unknown) {
      track(event, payload, true);
      drain();
      return flush();
    },
    identify(primaryKey, properties, options) {
      drain();
      const { signature } = options ?? {};
      if (typeof primaryKey !== 'string' || !primaryKey || typeof (signature ?? '') !== 'string')
        return fail('identify: expected a non-empty string');
      // A service asks for none.
      identify(primaryKey, apiKey ? undefined : signature);
      if (properties) setProperties(properties);
    },
    setProperties(properties) {
      drain();
      setProperties(properties);
    },
    page: (overrides) => {
      track('page_view', { ...attempt(pageContext), ...attempt(() => ({ ...overrides })) });
    },
    reset() {
      drain();
      enter((visitor) => become(newVisitor(visitor)));
    },
    consent(isGranted) {
      drain();
      if (typeof isGranted !== 'boolean') return fail('consent: expected a boolean');
      answer(isGranted);
      channel.post(isGranted);
    },
    flush() {
      drain();
      return flush(true);
    },
    correlationValue: () => new Promise((resolve) => enter((visitor) => resolve(visitor.thread))),
    stats: () => structuredClone(counts),
    on,
    stop() {
      unplug();
      unwatch();
      leave();
    },
  };

  const [watch, unplug] = createPlugins([settings.pageViews, settings.clicks, watchLinks], tracker, attempt);
  // Nor does a plugin see what nobody has seen yet.
  if (document?.prerendering) document.addEventListener('prerenderingchange', watch, { once: true });
  else watch();
  return tracker;
};
