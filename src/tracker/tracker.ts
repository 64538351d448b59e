import { v4 as uuid } from 'uuid';
import { CALLS, carried, carry, ITEMS, TAB, THREAD } from '../page/carryOver.js';
import { createChannel } from '../page/channel.js';
import { pageContext } from '../page/context.js';
import { watchLifecycle } from '../page/lifecycle.js';
import { ENVELOPE } from '../pipeline/batch.js';
import { createDelivery, type Report } from '../pipeline/delivery.js';
import { byteLength, draftEvent, draftUpsert, type ItemText, idOf, isEvent, stamp } from '../pipeline/event.js';
import { createQueue } from '../pipeline/queue.js';
import { createStore } from '../pipeline/store.js';
import { fetchTransport } from '../pipeline/transport.js';
import { EVENT_PATH, IDENTIFY } from '../wire.js';
import { createLedger } from './ledger.js';
import type { Settings } from './options.js';
import { createSignals } from './signals.js';
import type { Tracker } from './types.js';
import { createGate, type Visitor } from './visitor.js';

/** What the tabs of an origin tell each other: what is under way and answered for, or who the visitor now is. */
type Message = Report | Visitor | null;

/** Name of the visitor's record in the store. */
const VISITOR = 'visitor';

/**
 * The tracker itself: the only place that knows every stage.
 *
 * @param clock when an event happens, in ms since the epoch; only the replay of earlier calls needs another one
 */
export const startTracker = (settings: Settings, clock: () => number = Date.now): Tracker => {
  const { baseUrl: service, eventsUrl, apiKey, transport = fetchTransport, maxBatchBytes, maxQueuedEvents } = settings;
  const itemsKey = `${ITEMS} ${service}`;
  const tab = carried<string>(TAB) ?? uuid();
  const { on, emit } = createSignals(settings.debug);
  const fail = (message: string | undefined) => emit('error', () => new Error(`clew: ${message}`));
  const { counts, begin, end } = createLedger(emit);
  const { enter, open } = createGate((texts) => end(texts, 'consent'));
  const store = settings.store ?? createStore(fail);
  const queue = createQueue(store, service, tab, settings);
  const singles = new Set<string>();
  let booting: Promise<void> | undefined;
  let isBooted = false;
  let pages = 0;

  const channel = createChannel<Message>(`clew ${service}`, (message) => {
    if (!message) forget();
    else if ('pages' in message) isBooted && know(message);
    else delivery.hear(...message);
  });

  const delivery = createDelivery({
    store,
    queue,
    service,
    tab,
    singles,
    limits: settings,
    send: ({ path, body }, leaving) =>
      transport({
        url: (path === EVENT_PATH ? eventsUrl : service) + path,
        body,
        headers: { 'Content-Type': 'application/json', ...(apiKey && { Authorization: `Api-Key ${apiKey}` }) },
        leaving,
      }),
    onError: fail,
    onReport: channel.post,
    onSettled(items, rejected) {
      const isRejected = (text: ItemText) => rejected.includes(idOf(text));
      end(items.filter((text) => !isRejected(text)));
      end(items.filter(isRejected), 'rejected');
    },
  });

  const add = (text: ItemText) => {
    const isTooLarge = byteLength(text) > maxBatchBytes - ENVELOPE;
    if (isTooLarge || queue.items.size >= maxQueuedEvents) return end([text], isTooLarge ? 'too-large' : 'full');
    queue.add(text);
    delivery.added(text.length);
  };

  /** From now on the visitor is known, also to a page that has no time to ask the database. */
  const know = (visitor: Visitor) => {
    carry(THREAD, visitor.thread);
    open(visitor);
  };

  const become = (visitor: Visitor) => {
    queue.record(VISITOR, visitor);
    channel.post(visitor);
    know(visitor);
  };

  /** What `draft` makes, or '' if it throws: reading somebody's object may throw anything. */
  const attempt = (draft: () => ItemText): ItemText => {
    try {
      return draft();
    } catch (error) {
      fail(`${error}`);
      return '';
    }
  };

  const track = (event: unknown, payload?: unknown): string => {
    const at = clock();
    const name = typeof event === 'string' && event !== IDENTIFY && event;
    const text = attempt(() => {
      if (!name) throw `track: expected a name, not ${IDENTIFY}`;
      return draftEvent(at, name, payload);
    });
    begin();
    if (text) enter(({ thread }) => add(stamp(text, { correlationValue: thread })), text);
    else end([draftEvent(at, name || '')], name ? 'unserialisable' : 'rejected');
    return idOf(text);
  };

  const identify = (primaryKey: string) => {
    const text = draftEvent(clock(), IDENTIFY, { distinct_id: primaryKey });
    enter((visitor) => {
      const known = visitor.keys[service];
      if (known === primaryKey) return;
      // The service would rename or delete the first person's record if a second one came by the same thread.
      const person = known ? newVisitor() : visitor;
      become({ ...person, keys: { ...person.keys, [service]: primaryKey } });
      begin();
      add(stamp(text, { correlationValue: person.thread }));
    });
  };

  const setProperties = (properties: unknown) => {
    const text = attempt(() => draftUpsert(properties));
    if (!text) return;
    enter(({ keys: { [service]: primary_key } }) => {
      if (primary_key) add(stamp(text, { primary_key }));
      else fail('setProperties: expected identify() first');
    });
  };

  /** A visitor of a known thread, or of a new one. */
  const newVisitor = (thread: string = uuid()): Visitor => ({ thread, keys: {}, pages });
  /** Asks the store who the visitor is, and counts the page. */
  const load = () => {
    const candidate = newVisitor(carried(THREAD));
    return store.transact<Visitor>([], VISITOR, (stored = candidate) => ({ ...stored, pages: stored.pages + 1 }));
  };
  const carriedItems = () => carried<ItemText[]>(itemsKey) ?? [];

  /** Opens the database and lets in the calls that waited for it. */
  const boot = async () => {
    const visitor = await load();
    // Consent was refused meanwhile.
    if (!booting) return;
    isBooted = true;
    ({ pages } = visitor);
    know(visitor);
    for (const text of carriedItems()) {
      if (queue.items.has(idOf(text))) continue;
      if (isEvent(text)) begin();
      queue.add(text);
    }
    queue.open(pages);
    carry(itemsKey);
    // Soon, not after the full interval: it proves the link. The database's answer has let the page's first work go ahead.
    delivery.flush(true);
  };

  const start = () => {
    // Handed from page to page, so that never two that are alive have it.
    carry(TAB);
    isBooted = false;
    open(undefined);
    booting = boot();
  };

  const forget = () => {
    booting = undefined;
    isBooted = false;
    open(null);
    queue.open(0);
    end(queue.remove([...queue.items.keys()])[0], 'consent');
    store.clear();
    for (const key of [CALLS, THREAD, itemsKey]) carry(key);
  };

  const flush = async (force?: boolean) => {
    await booting;
    if (isBooted) await delivery.flush(force);
  };

  const leave = () => {
    channel.close();
    if (!booting) return;
    carry(TAB, tab);
    if (!isBooted) know(newVisitor(carried(THREAD)));
    delivery.leave();
    // The database is not open yet, and an open that ends now comes too late.
    if (!isBooted) carry(itemsKey, [...carriedItems(), ...queue.items.values()]);
  };

  const unwatch = watchLifecycle(flush, leave, () => {
    channel.reopen();
    delivery.restore();
    // Another tab may have made the visitor another one meanwhile.
    if (booting) start();
  });

  if (settings.consent === 'granted') start();

  return {
    track,
    trackNow(event, payload?: unknown) {
      singles.add(track(event, payload));
      return flush();
    },
    identify(primaryKey, properties) {
      if (typeof primaryKey !== 'string' || !primaryKey) return fail('identify: expected a string');
      identify(primaryKey);
      if (properties) setProperties(properties);
    },
    setProperties,
    page: (overrides) => {
      track('page_view', { ...pageContext(), ...overrides });
    },
    reset: () => enter(() => become(newVisitor())),
    consent(isGranted) {
      if (!isGranted) {
        forget();
        channel.post(null);
      } else if (!booting) start();
    },
    flush: () => flush(true),
    correlationValue: () => new Promise((resolve) => enter((visitor) => resolve(visitor.thread))),
    stats: () => ({ ...counts, dropped: { ...counts.dropped } }),
    on,
    stop() {
      unwatch();
      leave();
    },
  };
};
