import { v4 as uuid } from 'uuid';
import { CALLS, carried, carriedList, carry, ITEMS, TAB, THREAD, VISIT } from '../page/carryOver.js';
import { createChannel } from '../page/channel.js';
import { pageContext } from '../page/context.js';
import { watchLifecycle } from '../page/lifecycle.js';
import type { Batch } from '../pipeline/batch.js';
import { ENVELOPE } from '../pipeline/batch.js';
import { createDelivery, type Report } from '../pipeline/delivery.js';
import {
  byteLength,
  draftEvent,
  draftUpsert,
  type ItemText,
  idOf,
  isEvent,
  isItem,
  isName,
  stamp,
} from '../pipeline/event.js';
import { createQueue } from '../pipeline/queue.js';
import { createStore } from '../pipeline/store.js';
import { fetchAtEnd, fetchTransport, gzip, type TransportRequest } from '../pipeline/transport.js';
import { EVENT_PATH, IDENTIFY } from '../wire.js';
import { createLedger } from './ledger.js';
import type { Settings } from './options.js';
import type { Step } from './prepare.js';
import { createSignals, type DropReason } from './signals.js';
import type { Tracker } from './types.js';
import { createGate, isThread, type Visitor } from './visitor.js';

/** What the tabs of an origin tell each other: what is under way and answered for, who the visitor now is, or their answer. */
type Message = Report | Visitor | boolean;

/** Name of the visitor's record in the store. */
const VISITOR = 'visitor';
/** Most characters of queued items, however few they are: a page's memory is not ours alone. */
const MOST_QUEUED = 1e7;

/**
 * The tracker itself: the only place that knows every stage.
 *
 * @param steps what an event goes through in the call that tracks it
 * @param clock when an event happens, in ms since the epoch; only the replay of earlier calls needs another one
 */
export const startTracker = (settings: Settings, steps: readonly Step[], clock: () => number = Date.now): Tracker => {
  const { baseUrl: service, eventsUrl, apiKey, transport = fetchTransport, maxBatchBytes, maxQueuedEvents } = settings;
  const { cookieDomain: cookie, linkDomains } = settings;
  const [arriveByLink, watchLinks] = linkDomains ? linkDomains(service, () => (pages ? candidate : undefined)) : [];
  const itemsKey = `${ITEMS} ${service}`;
  /** This page's name among those who may hold the lease. */
  let tab = '';
  const [on, emit] = createSignals(settings.debug);
  const fail = (message: string | undefined) => emit('error', () => new Error(`clew: ${message}`));
  const [counts, begin, end] = createLedger(emit);
  const [enter, open] = createGate((texts) => end(texts, 'consent'));
  const store = settings.store ?? createStore(fail);
  const queue = createQueue(store, service, uuid(), settings, () => pages);
  const singles = new Set<string>();
  let booting: Promise<void> | undefined;
  /** Number of this page load; 0 while the database has not said it, or the visitor does not want to be known. */
  let pages = 0;
  /** Who the visitor is, as far as a page can know that is not to wait for the database. */
  let candidate: Visitor;
  /** Events of this page that came before its database. */
  let early: ItemText[] = [];
  let isCarrying = false;
  /** No cookie has been refused. */
  let isBaking = true;
  /** The visitor's thread was carried when the page went away, and is no more: perhaps they have refused meanwhile. */
  let isMissing = false;
  let wasCarried = false;
  /** There is none where an app's tests run without a browser. */
  const { document } = globalThis as { document?: Document & { prerendering?: boolean } };

  /** How many events of this page load each thread has. */
  let numbers: Record<string, number> = {};

  const requestOf = ({ path, body }: Batch, leaving: boolean, packed?: Uint8Array<ArrayBuffer>): TransportRequest => ({
    url: (path === EVENT_PATH ? eventsUrl : service) + path,
    body: packed ?? body,
    headers: {
      'Content-Type': 'application/json',
      ...(packed && { 'Content-Encoding': 'gzip' }),
      ...(apiKey && { Authorization: `Api-Key ${apiKey}` }),
    },
    leaving,
    ...(cookie && { credentials: 'same-origin' as const }),
  });

  const channel = createChannel<Message>(`clew ${service}`, (message) => {
    if (typeof message === 'boolean') answer(message);
    else if ('pages' in message) pages && know(message);
    else delivery.hear(...message);
  });

  const delivery = createDelivery({
    store,
    queue,
    service,
    tab: () => tab,
    singles,
    limits: settings,
    isDirect: !!apiKey,
    pack: async (body) => (settings.compress ? gzip(body) : undefined),
    send(...sent) {
      const answer = transport(requestOf(...sent));
      // A relay sets the cookie again that came with the request: meanwhile the visitor may be another one, or have refused.
      if (answer && cookie) answer.then(bake, bake);
      return answer;
    },
    // Somebody else's transport knows of answers only.
    defer: (batch) => (settings.transport ? () => {} : fetchAtEnd(requestOf(batch, true))),
    onError: fail,
    onReport: channel.post,
    onSettled(items, rejected) {
      const isRejected = (text: ItemText) => rejected.includes(idOf(text));
      uncarry(items);
      end(items.filter((text) => !isRejected(text)));
      end(items.filter(isRejected), 'rejected');
    },
  });

  const add = (text: ItemText) => {
    const isTooLarge = byteLength(text) > maxBatchBytes - ENVELOPE;
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

  /** What the site's other hosts know of the visitor: nothing, after a refusal. */
  const bake = () => {
    const { thread, turn, keys } = candidate;
    const [key] = Object.values(keys)[0] ?? [];
    const mark = typeof key === 'string' ? cookie?.markOf(key) : key;
    const there = booting && cookie?.read();
    if (there && turn <= there.turn && (thread !== there.thread || mark === undefined)) return;
    if (isBaking && cookie?.write(booting && { thread, turn, mark }) === false) {
      isBaking = false;
      fail('cookieDomain: expected a domain of this page, and cookies to be allowed');
    }
  };

  /** The visitor as another host of the site may have left them. */
  const shared = (): Visitor | undefined => {
    const { thread, turn = 0, mark } = cookie?.read() ?? {};
    return isThread(thread)
      ? { thread, turn, keys: mark === undefined ? {} : { [service]: [mark] }, pages }
      : undefined;
  };

  /** From now on the visitor is known, also to a page that has no time to ask the database. */
  const know = (visitor: Visitor) => {
    candidate = visitor;
    carry(THREAD, visitor.thread);
    bake();
    open(visitor);
  };

  /** From now on the visitor is another one; `text` goes into the store with that or not at all. */
  const become = (visitor: Visitor, text?: ItemText) => {
    if (text) {
      begin();
      add(text);
    }
    queue.persist([[VISITOR, visitor]]);
    channel.post(visitor);
    know(visitor);
  };

  /** What `read` makes, or '' if it throws: reading somebody's object may throw anything. */
  const attempt = <T>(read: () => T): T | '' => {
    try {
      return read();
    } catch (error) {
      // Whatever was thrown, even if it cannot be written itself.
      fail((error as Error | undefined)?.message ?? 'unreadable');
      return '';
    }
  };

  /** Other pages may have something to carry, too. */
  const carryItems = (items: ItemText[]) => carry(itemsKey, [...new Set([...items, ...carriedList(itemsKey)])]);

  /** Leaves there what is not of these: it has a better place now, or needs none. */
  const uncarry = (items: ItemText[]) => {
    const ids = items.map(idOf);
    const all = carriedList(itemsKey);
    const left = all.filter((text) => isItem(text) && !ids.includes(idOf(text)));
    if (left.length < all.length) carry(itemsKey, left[0] && left);
  };

  /** A page may crash before its database is open. */
  const carryEarly = (text: ItemText) => {
    early.push(text);
    if (!isCarrying)
      queueMicrotask(() => {
        isCarrying = false;
        // None are left after a refusal.
        if (early[0]) carryItems(early);
      });
    isCarrying = true;
  };

  const track = (event: unknown, payload?: unknown): string => {
    const at = clock();
    const name = isName(event) ? event : '';
    let reason: DropReason = name ? 'unserialisable' : 'rejected';
    const text = attempt(() => {
      if (!name) throw Error(`track: expected a name, not ${IDENTIFY}`);
      const draft = draftEvent(at, name, payload);
      reason = 'filtered';
      return steps.reduce((text, step) => text && step(text, attempt), draft);
    });
    begin();
    if (text) {
      enter(({ thread }) => add(signed(text, thread)), text);
      if (booting && !pages) carryEarly(stamp(text, { correlationValue: candidate.thread }));
    } else end([draftEvent(at, name)], reason);
    return idOf(text);
  };

  /** The primary key and its signature, whatever somebody has put there. */
  const identityIn = ({ keys }: Visitor) => [keys[service]].flat();

  const identify = (primaryKey: string, signature?: string) => {
    const text = draftEvent(clock(), IDENTIFY, { distinct_id: primaryKey });
    enter((visitor) => {
      const [known, proof] = identityIn(visitor);
      // By its mark alone, if it was on another host of the site.
      const isKnown = known === (typeof known === 'number' ? cookie?.markOf(primaryKey) : primaryKey);
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
      else fail('setProperties: expected identify() first');
    });
  };

  /** A visitor of a known thread, or of a new one after that of another. */
  const newVisitor = (before?: Visitor, thread: string = uuid()): Visitor => ({
    thread,
    turn: before ? before.turn + 1 : 0,
    keys: {},
    pages,
  });
  /** Asks the store who the visitor is, and counts the page; nobody, if the thread is missing there, too. */
  const load = async (): Promise<Visitor | undefined> => {
    // Before anything reads the page's address.
    const linked = arriveByLink && attempt(arriveByLink);
    const meet = (stored?: Visitor) => {
      if (isMissing && !stored) return;
      const elsewhere = shared();
      const here = isThread(stored?.thread) ? stored : candidate;
      const turn = ~~here.turn;
      const isThere = elsewhere && elsewhere.turn >= turn;
      const known = isThere && elsewhere.thread !== here.thread ? elsewhere : { ...here, turn };
      const keys = { ...(isThere && elsewhere.keys), ...known.keys };
      const visitor = { ...known, keys, pages: ~~here.pages + 1 || 1 };
      return linked ? linked(visitor) : visitor;
    };
    return (await store.transact([], VISITOR, meet as (stored?: Visitor) => Visitor)) ?? meet();
  };

  /** Opens the database and lets in the calls that waited for it. */
  const boot = async () => {
    const mine = candidate;
    const visitor = await load();
    // Meanwhile the page is going away, or consent was refused.
    if (mine !== candidate) return;
    // A page that comes back from WebKit's back/forward cache has not been told of a refusal.
    if (!visitor?.thread) return forget();
    ({ pages } = visitor);
    if (arriveByLink && visitor.thread !== mine.thread) channel.post(visitor);
    know(visitor);
    const found = carriedList(itemsKey);
    for (const text of found) {
      if (!isItem(text) || early.includes(text) || queue.items.has(idOf(text))) continue;
      if (isEvent(text)) begin();
      queue.add(text);
    }
    early = [];
    // Only then: a page that crashes in between is to find it in one of both places.
    queue.persist()?.then((isStored) => {
      if (isStored) uncarry(found.filter(isItem));
    });
    // Soon, not after the full interval: it proves the link. The database's answer has let the page's first work go ahead.
    delivery.flush(true);
  };

  const start = () => {
    // A page that was only loaded to be at hand has not been seen yet, and perhaps never will be.
    if (document?.prerendering) return document.addEventListener('prerenderingchange', start, { once: true });
    const thread = carried(THREAD);
    candidate = shared() ?? newVisitor(undefined, isThread(thread) ? thread : undefined);
    isMissing = wasCarried && !thread;
    if (!isMissing) carry(THREAD, candidate.thread);
    // Handed on once: never do two pages that are alive have the same name.
    const name = carried(TAB);
    tab = isThread(name) ? name : uuid();
    carry(TAB);
    arrive();
  };

  /** As on a new page: who the visitor is has to be asked. */
  const arrive = () => {
    early = [];
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
    early = [];
    pages = 0;
    open(null);
    end(queue.remove([...queue.items.keys()]), 'consent');
    delivery.forget();
    store.clear();
    for (const key of [CALLS, THREAD, TAB, VISIT, itemsKey]) carry(key);
    bake();
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

  const leave = () => {
    channel.close();
    unwait();
    // Nor does a page that may have been refused write anything before it knows.
    if (!booting || (isMissing && !pages)) return;
    wasCarried = !!carried(THREAD);
    if (!pages) {
      // Another one, so that what still comes of booting is void.
      candidate = { ...candidate };
      know(candidate);
    }
    delivery.leave();
    // Perhaps the database is not open yet, or does not work for a page that is going away: WebKit's does not.
    const unsaved = queue.unsaved();
    if (unsaved[0]) carryItems(unsaved);
    if (!pages || delivery.isRunning()) carry(TAB, tab);
  };

  /** While nobody looked, another host of the site may have made the visitor another one, or identified them. */
  const look = (isBack: boolean) => {
    const found = isBack && booting && shared();
    if (found && (found.thread !== candidate.thread || (identityIn(found)[0] && !identityIn(candidate)[0]))) {
      candidate = found;
      arrive();
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

  const plugins = [settings.pageViews, settings.clicks, watchLinks];
  const undoings: (() => void)[] = [];

  const tracker: Tracker = {
    track,
    trackNow(event, payload?: unknown) {
      singles.add(track(event, payload));
      return flush();
    },
    identify(primaryKey, properties, options) {
      const { signature } = options ?? {};
      if (typeof primaryKey !== 'string' || !primaryKey || typeof (signature ?? '') !== 'string')
        return fail('identify: expected a string');
      // A service asks for none.
      identify(primaryKey, apiKey ? undefined : signature);
      if (properties) setProperties(properties);
    },
    setProperties,
    page: (overrides) => {
      track('page_view', { ...attempt(pageContext), ...attempt(() => ({ ...overrides })) });
    },
    reset: () => enter((visitor) => become(newVisitor(visitor))),
    consent(isGranted) {
      if (typeof isGranted !== 'boolean') return fail('consent: expected true or false');
      answer(isGranted);
      channel.post(isGranted);
    },
    flush: () => flush(true),
    correlationValue: () => new Promise((resolve) => enter((visitor) => resolve(visitor.thread))),
    stats: () => structuredClone(counts),
    on,
    stop() {
      // Should the page never have been seen, none begins any more.
      plugins.length = 0;
      for (const undo of undoings) attempt(undo);
      unwatch();
      leave();
    },
  };

  const watch = () => {
    for (const plugin of plugins) {
      const undo = plugin && attempt(() => plugin(tracker));
      if (undo) undoings.push(undo);
    }
  };
  if (document?.prerendering) document.addEventListener('prerenderingchange', watch, { once: true });
  else watch();
  return tracker;
};
