import { v4 as uuid } from 'uuid';
import { CALLS, carried, carry, ITEMS, THREAD } from '../page/carryOver.js';
import { createChannel } from '../page/channel.js';
import { pageContext } from '../page/context.js';
import { watchLifecycle, whenIdle } from '../page/lifecycle.js';
import { ENVELOPE } from '../pipeline/batch.js';
import { createDelivery, type Report } from '../pipeline/delivery.js';
import { byteLength, draftEvent, type ItemText, idOf, isEvent, stamp, upsert } from '../pipeline/event.js';
import { createQueue } from '../pipeline/queue.js';
import { createStore } from '../pipeline/store.js';
import { fetchTransport, toRequest } from '../pipeline/transport.js';
import { IDENTIFY, isObject } from '../wire.js';
import { createLedger } from './ledger.js';
import type { Settings } from './options.js';
import { createSignals } from './signals.js';
import type { Tracker } from './types.js';
import { createGate, type Visitor } from './visitor.js';

/** What the tabs of an origin tell each other: what is under way and answered for, or who the visitor now is. */
type Message = Report | { readonly visitor: Visitor | null };

/** Name of the visitor's record in the store. */
const VISITOR = 'visitor';

/**
 * The tracker itself: the only place that knows every stage.
 *
 * @param clock when an event happens, in ms since the epoch; only the replay of earlier calls needs another one
 */
export const startTracker = (settings: Settings, clock: () => number = Date.now): Tracker => {
  const { transport = fetchTransport, maxBatchBytes, maxQueuedEvents } = settings;
  const service = settings.baseUrl.replace(/\/+$/, '');
  const itemsKey = `${ITEMS} ${service}`;
  const tab = uuid();
  const { on, emit } = createSignals(settings.debug);
  const fail = (message: string) => emit('error', () => new Error(`clew: ${message}`));
  const { counts, end } = createLedger(emit);
  const { enter, open, held, isRefused } = createGate((texts) => end(texts, 'consent'));
  const store = settings.store ?? createStore('clew', (cause) => fail(`no storage: ${cause}`));
  const queue = createQueue(store, service, tab, settings);
  const singles = new Set<string>();
  let booting: Promise<void> | undefined;
  let isBooted = false;
  let pages = 0;

  const channel = createChannel<Message>(`clew ${service}`, (message) => {
    if ('done' in message) delivery.hear(message);
    else if (!message.visitor) forget();
    else if (isBooted) open(message.visitor);
  });

  const delivery = createDelivery({
    store,
    queue,
    service,
    tab,
    singles,
    limits: settings,
    send: (batch, leaving) => transport(toRequest(batch, settings, leaving)),
    onError: fail,
    onReport: channel.post,
    onSettled(items, rejected) {
      const isRejected = (text: ItemText) => rejected.includes(idOf(text));
      end(items.filter((text) => !isRejected(text)));
      end(items.filter(isRejected), 'rejected');
    },
  });

  const add = (text: ItemText) => {
    // UTF-8 has at most three bytes for each unit of a string: most need no measuring.
    const isTooLarge = text.length * 3 > maxBatchBytes && byteLength(text) > maxBatchBytes - ENVELOPE;
    if (isTooLarge || queue.size() >= maxQueuedEvents) return end([text], isTooLarge ? 'too-large' : 'full');
    queue.add(text);
    delivery.added(text.length);
  };

  const become = (visitor: Visitor) => {
    queue.record(VISITOR, visitor);
    carry(THREAD, visitor.correlationValue);
    channel.post({ visitor });
    open(visitor);
  };

  /** JSON of `value`, '' of nothing, undefined if there is none: reading somebody's object may throw anything. */
  const toJson = (value: unknown): string | undefined => {
    let fault: unknown = typeof value;
    try {
      const json = JSON.stringify(value);
      if (json || value === undefined) return json ?? '';
    } catch (error) {
      fault = error;
    }
    fail(`expected what JSON can express: ${fault}`);
    return undefined;
  };

  const track = (event: unknown, payload: unknown, id = uuid()) => {
    counts.tracked++;
    const isName = typeof event === 'string' && event && event !== IDENTIFY;
    const json = toJson(payload);
    const draft = draftEvent(id, clock(), isName ? event : '', json);
    const text = `${draft}}`;
    if (!isName) fail(`expected an event's name, and not ${IDENTIFY}: call identify()`);
    if (isName && json !== undefined) enter(({ correlationValue }) => add(stamp(draft, correlationValue)), text);
    else end([text], isName ? 'unserialisable' : 'rejected');
  };

  const identify = (primaryKey: string) => {
    const draft = draftEvent(uuid(), clock(), IDENTIFY, JSON.stringify({ distinct_id: primaryKey }));
    enter((visitor) => {
      const known = visitor.primaryKeys[service];
      if (known === primaryKey) return;
      // The service would rename or delete the first person's record if a second one came by the same thread.
      const { correlationValue, primaryKeys, pages } = known ? newVisitor() : visitor;
      become({ correlationValue, primaryKeys: { ...primaryKeys, [service]: primaryKey }, pages });
      counts.tracked++;
      add(stamp(draft, correlationValue));
    });
  };

  const setProperties = (properties: unknown) => {
    const json = isObject(properties) ? toJson(properties) : fail('expected an object of properties');
    if (json)
      enter(({ primaryKeys: { [service]: primaryKey } }) =>
        primaryKey ? add(upsert(uuid(), primaryKey, json)) : fail('expected identify() before setProperties()'),
      );
  };

  /** Who the visitor is unless the store knows better. */
  const newVisitor = (correlationValue: string = uuid()): Visitor => ({ correlationValue, primaryKeys: {}, pages });
  const load = () => {
    const candidate = newVisitor(carried(THREAD));
    return store.transact<Visitor>([], VISITOR, (stored = candidate) => ({ ...stored, pages: stored.pages + 1 }));
  };
  const carriedItems = () => carried<ItemText[]>(itemsKey) ?? [];

  /** Opens the database, learns who the visitor is, and lets in the calls that waited for it. */
  const boot = async () => {
    const visitor = await load();
    if (isRefused()) return;
    isBooted = true;
    ({ pages } = visitor);
    carry(THREAD, visitor.correlationValue);
    open(visitor);
    for (const text of carriedItems()) {
      if (isEvent(text)) counts.tracked++;
      queue.add(text);
    }
    queue.open(pages);
    carry(itemsKey);
    whenIdle(() => delivery.flush(true));
  };

  const start = () => {
    open(undefined);
    booting = boot();
  };

  const forget = () => {
    booting = undefined;
    isBooted = false;
    open(null);
    queue.open(0);
    end(queue.remove(queue.items().map(idOf)).removed, 'consent');
    store.clear();
    for (const key of [CALLS, THREAD, itemsKey]) carry(key);
  };

  const unwatch = watchLifecycle({
    hidden: () => isBooted && delivery.flush(),
    wake: () => isBooted && delivery.wake(),
    leave() {
      channel.close();
      if (!booting) return;
      const visitor = newVisitor(carried(THREAD));
      if (!isBooted) open(visitor);
      delivery.leave();
      if (isBooted) return;
      // The database is not open yet, and an open that ends now comes too late.
      carry(THREAD, visitor.correlationValue);
      carry(itemsKey, [...new Set([...carriedItems(), ...queue.items()])]);
    },
    restore() {
      channel.reopen();
      delivery.restore();
      if (!isBooted) return;
      // Another tab may have made the visitor another one meanwhile.
      open(undefined);
      load().then(open);
    },
  });

  if (settings.respectGpc && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) open(null);
  else if (settings.consent === 'granted') start();

  return {
    track: (event, payload?: unknown) => track(event, payload),
    async trackNow(event, payload?: unknown) {
      const id = uuid();
      singles.add(id);
      track(event, payload, id);
      await booting;
      await delivery.flush();
    },
    identify(primaryKey, properties) {
      if (typeof primaryKey !== 'string' || !primaryKey) return fail('expected a primary key, a string');
      identify(primaryKey);
      if (properties) setProperties(properties);
    },
    setProperties,
    page: (overrides) => track('page_view', { ...pageContext(), ...overrides }),
    reset: () => enter(() => become(newVisitor())),
    consent(isGranted) {
      if (!isGranted) {
        forget();
        channel.post({ visitor: null });
      } else if (!booting) start();
    },
    async flush() {
      await booting;
      if (isBooted) await delivery.flush(true);
    },
    correlationValue: () => new Promise((resolve) => enter((visitor) => resolve(visitor.correlationValue))),
    stats: () => ({
      ...counts,
      dropped: { ...counts.dropped },
      queued: [...held(), ...queue.items().filter(isEvent)].length,
    }),
    on,
    stop() {
      unwatch();
      channel.close();
      delivery.stop();
    },
  };
};
