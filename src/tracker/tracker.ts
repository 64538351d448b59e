import { v4 as uuid } from 'uuid';
import { CALLS, carried, carry, ITEMS, THREAD } from '../page/carryOver.js';
import { createChannel } from '../page/channel.js';
import { pageContext } from '../page/context.js';
import { watchLifecycle, whenIdleAfterLoad } from '../page/lifecycle.js';
import { ENVELOPE } from '../pipeline/batch.js';
import { createDelivery, type Report } from '../pipeline/delivery.js';
import { byteLength, draftEvent, type ItemText, idOf, isEvent, stamp, upsert } from '../pipeline/event.js';
import { createQueue } from '../pipeline/queue.js';
import { createStore } from '../pipeline/store.js';
import { createCourier } from '../pipeline/transport.js';
import { IDENTIFY } from '../wire.js';
import { createGate } from './gate.js';
import { type Identity, identifyAs, identityOr, newIdentity } from './identity.js';
import { readEvent, readProperties } from './intake.js';
import { createLedger } from './ledger.js';
import type { Settings } from './options.js';
import { createSignals } from './signals.js';
import type { Tracker } from './types.js';

/** What the tabs of an origin tell each other: what is under way and answered for, or who the visitor now is. */
type Message = { readonly report: Report } | { readonly visitor: Identity | null };

/** The record of the visitor, and of the number of page loads, in the store. */
const IDENTITY = 'identity';
const PAGES = 'pages';

/**
 * The tracker itself: the only place that knows every stage.
 *
 * @param clock when an event happens, in ms since the epoch; only the replay of earlier calls needs another one
 */
export const startTracker = (settings: Settings, clock: () => number = Date.now): Tracker => {
  const { baseUrl, maxBatchBytes, maxQueuedEvents } = settings;
  const service = baseUrl.replace(/\/+$/, '');
  const itemsKey = `${ITEMS} ${service}`;
  const tab = uuid();
  const { on, emit } = createSignals(settings.debug);
  const fail = (fault: string) => emit('error', new Error(`clew: ${fault}`));
  const ledger = createLedger(emit);
  const gate = createGate((texts) => ledger.end(texts, 'consent'));
  const store =
    settings.store ?? createStore('clew', (cause) => fail(`storage is refused (${cause}): memory has to do`));
  const queue = createQueue(store, service, tab, settings);
  const singles = new Set<string>();
  let booting: Promise<void> | undefined;
  let isBooted = false;

  const channel = createChannel<Message>(`clew ${service}`, (message) => {
    if ('report' in message) delivery.hear(message.report);
    else if (!message.visitor) forget();
    else if (isBooted) gate.open(message.visitor);
  });

  const delivery = createDelivery({
    ...settings,
    limits: settings,
    courier: createCourier(settings),
    store,
    queue,
    service,
    tab,
    singles,
    onError: fail,
    onReport: (report) => channel.post({ report }),
    onSettled(items, rejected) {
      const isRejected = (text: ItemText) => rejected.includes(idOf(text));
      ledger.end(items.filter((text) => !isRejected(text)));
      ledger.end(items.filter(isRejected), 'rejected');
    },
  });

  const add = (text: ItemText) => {
    const isTooLarge = byteLength(text) > maxBatchBytes - ENVELOPE;
    if (isTooLarge || queue.size() >= maxQueuedEvents) {
      const reason = isTooLarge ? 'too-large' : 'full';
      fail(`${reason}: ${text.slice(0, 200)}`);
      return ledger.end([text], reason);
    }
    queue.add(text);
    delivery.added(text.length);
  };

  const become = (visitor: Identity) => {
    queue.record(IDENTITY, visitor);
    carry(THREAD, visitor.correlationValue);
    channel.post({ visitor });
    gate.open(visitor);
  };

  const track = (event: unknown, payload: unknown, id = uuid()) => {
    ledger.counts.tracked++;
    const { draft, reason, fault } = readEvent(id, clock(), event, payload);
    if (!reason) return gate.enter(({ correlationValue }) => add(stamp(draft, correlationValue)), `${draft}}`);
    fail(`${fault}`);
    ledger.end([`${draft}}`], reason);
  };

  const identify = (primaryKey: string) => {
    const draft = draftEvent(uuid(), clock(), IDENTIFY, JSON.stringify({ distinct_id: primaryKey }));
    gate.enter((before) => {
      const visitor = identifyAs(before, service, primaryKey);
      if (visitor === before) return;
      become(visitor);
      ledger.counts.tracked++;
      add(stamp(draft, visitor.correlationValue));
    });
  };

  const setProperties = (properties: unknown) => {
    const { json, fault } = readProperties(properties);
    if (!json) return fail(`${fault}`);
    gate.enter(({ primaryKeys: { [service]: primaryKey } }) =>
      primaryKey ? add(upsert(uuid(), primaryKey, json)) : fail('setProperties: call identify() first'),
    );
  };

  const load = (candidate: Identity) =>
    store.transact<Identity>([], IDENTITY, (stored) => identityOr(candidate, stored));
  const candidate = () => newIdentity(carried(THREAD) as string | undefined);
  const itemsCarried = () => (carried(itemsKey) ?? []) as ItemText[];

  /** Opens the database, learns who the visitor is, and lets in the calls that waited for it. */
  const boot = async () => {
    const [visitor, page] = await Promise.all([
      load(candidate()),
      store.transact<number>([], PAGES, (pages = 0) => pages + 1),
    ]);
    if (gate.isRefused()) return;
    carry(THREAD, visitor.correlationValue);
    isBooted = true;
    gate.open(visitor);
    for (const text of itemsCarried()) {
      if (isEvent(text)) ledger.counts.tracked++;
      queue.add(text);
    }
    queue.open(page);
    carry(itemsKey);
    whenIdleAfterLoad(() => delivery.flush(true));
  };

  const start = () => {
    gate.shut();
    booting = boot();
  };

  const forget = () => {
    booting = undefined;
    isBooted = false;
    gate.refuse();
    queue.open(0);
    ledger.end(queue.remove(queue.items().map(idOf)).removed, 'consent');
    store.clear();
    for (const key of [CALLS, THREAD, itemsKey]) carry(key);
  };

  const leave = () => {
    channel.close();
    if (!booting) return;
    if (isBooted) return delivery.leave();
    // The database is not open yet, and an open that starts or ends now comes too late.
    const visitor = candidate();
    gate.open(visitor);
    delivery.leave();
    carry(THREAD, visitor.correlationValue);
    carry(itemsKey, [...new Set([...itemsCarried(), ...queue.items()])]);
  };

  const unwatch = watchLifecycle({
    hidden: () => isBooted && delivery.flush(false),
    wake: () => isBooted && delivery.wake(),
    leave,
    restore() {
      channel.reopen();
      delivery.restore();
      if (!isBooted) return;
      // Another tab may have identified somebody else meanwhile.
      gate.shut();
      load(candidate()).then(gate.open);
    },
  });

  if (settings.respectGpc && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) gate.refuse();
  else if (settings.consent === 'granted') start();

  return {
    track: (event, payload?: unknown) => track(event, payload),
    trackNow: (event, payload?: unknown) =>
      new Promise((resolve) => {
        const id = uuid();
        ledger.whenEnded(id, resolve);
        singles.add(id);
        track(event, payload, id);
        gate.enter(() => delivery.flush(false));
      }),
    identify(primaryKey, properties) {
      if (typeof primaryKey !== 'string' || !primaryKey) return fail('the primary key must be a non-empty string');
      identify(primaryKey);
      if (properties) setProperties(properties);
    },
    setProperties,
    page: (overrides) => track('page_view', { ...pageContext(), ...overrides }),
    reset: () => gate.enter(() => become(newIdentity())),
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
    correlationValue: () => new Promise((resolve) => gate.enter((visitor) => resolve(visitor.correlationValue))),
    stats: () => ledger.stats(gate.texts().length + queue.items().filter(isEvent).length),
    on,
    stop() {
      unwatch();
      channel.close();
      delivery.stop();
    },
  };
};
