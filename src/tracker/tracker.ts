import { v4 as uuid } from 'uuid';
import { CALLS, carried, carry, ITEMS, THREAD } from '../page/carryOver.js';
import { createChannel } from '../page/channel.js';
import { pageContext } from '../page/context.js';
import { watchLifecycle, whenIdleAfterLoad } from '../page/lifecycle.js';
import { ENVELOPE } from '../pipeline/batch.js';
import { createDelivery } from '../pipeline/delivery.js';
import { draftEvent, type ItemText, idOf, isLongerThan, isUpsert, stamp, upsert } from '../pipeline/event.js';
import { createQueue } from '../pipeline/queue.js';
import { createStore } from '../pipeline/store.js';
import { createCourier } from '../pipeline/transport.js';
import { IDENTIFY } from '../wire.js';
import { createGate } from './gate.js';
import { IDENTITY, type Identity, identified, loadIdentity, newIdentity } from './identity.js';
import { primaryKeyFault, readEvent, readProperties } from './intake.js';
import { createLedger } from './ledger.js';
import { normaliseOptions, type TrackerOptions } from './options.js';
import { createSignals } from './signals.js';
import { silentTracker } from './silent.js';
import type { AnyEvents, EventMap, Tracker } from './types.js';

/** What the tabs of an origin tell each other. */
interface Message {
  /** Who the visitor is from now on; null when consent was refused. */
  readonly identity?: Identity | null;
  /** Ids of what the sending tab has under way. */
  readonly taken?: string[];
  /** Ids of what has been answered for. */
  readonly done?: string[];
  /** Ids of those among `done` that were refused. */
  readonly rejected?: ReadonlySet<string>;
}

/**
 * Makes a tracker. On a server, where there is no `window`, it does nothing.
 *
 * @param clock tells when an event happens, in ms since the epoch; only who replays earlier calls needs another one
 * @throws TypeError for an option that cannot be meant, naming what was expected
 * @example
 * const tracker = createTracker({ baseUrl: '/clew' });
 * tracker.track('signup', { plan: 'pro' });
 */
export const createTracker = <Events extends EventMap = AnyEvents>(
  options: TrackerOptions,
  clock: () => number = Date.now,
): Tracker<Events> => {
  const settings = normaliseOptions(options);
  if (typeof window === 'undefined') return silentTracker;

  const service = settings.baseUrl.replace(/\/+$/, '');
  const itemsCarried = `${ITEMS} ${service}`;
  const tab = uuid();
  const { on, emit } = createSignals(settings.debug);
  const fail = (message: string) => emit('error', () => new Error(`clew: ${message}`));
  const ledger = createLedger(emit);
  const gate = createGate((texts) => ledger.dropped(texts, 'consent'));
  const store = settings.store ?? createStore('clew', (cause) => fail(`no storage, memory has to do: ${cause}`));
  const queue = createQueue(store, service, tab, settings);
  const singles = new Set<string>();
  let identity: Identity | undefined;
  /** What another tab said last. */
  let heard: Identity | undefined;
  let booting: Promise<void> | undefined;
  let isBooted = false;

  const account = (own: readonly ItemText[], rejected: ReadonlySet<string>) => {
    const isRejected = (text: ItemText) => rejected.has(idOf(text));
    ledger.delivered(own.filter((text) => !isRejected(text)));
    ledger.dropped(own.filter(isRejected), 'rejected');
  };

  const channel = createChannel<Message>(`clew ${service}`, ({ identity: other, taken, done, rejected = new Set() }) => {
    if (other === null) forget();
    else if (other) identity = heard = other;
    if (taken) delivery.takenElsewhere(taken);
    if (done) account(queue.remove(done).removed, rejected);
  });

  const delivery = createDelivery({
    ...createCourier(settings),
    store,
    queue,
    service,
    tab,
    limits: settings,
    flushInterval: settings.flushInterval,
    isSingle: (id) => singles.has(id),
    onTaken: (taken) => {
      for (const id of taken) singles.delete(id);
      channel.post({ taken });
    },
    onSettled: (done, rejected, own) => {
      account(own, rejected);
      channel.post({ done, rejected });
    },
    onLate: () => queueMicrotask(leave),
    onError: fail,
  });

  /** Into the queue, if there is room. An upsert is no event and is only told as an error. */
  const add = (text: ItemText) => {
    const isTooLarge = isLongerThan(text, settings.maxBatchBytes - ENVELOPE);
    if (!isTooLarge && queue.size() < settings.maxQueuedEvents) {
      queue.add(text);
      return delivery.added(text.length);
    }
    const reason = isTooLarge ? 'too-large' : 'full';
    fail(`${reason}: ${text.slice(0, 200)}`);
    ledger.dropped([text], reason);
  };

  const enter = (run: (identity: Identity) => void, text?: string) =>
    gate.enter({ run: () => run(identity as Identity), ...(text && { text }) });

  const become = (next: Identity) => {
    identity = next;
    queue.record(IDENTITY, next);
    carry(THREAD, next.correlationValue);
    channel.post({ identity: next });
  };

  const trackEvent = (id: string, event: unknown, payload: unknown) => {
    ledger.tracked();
    const { text, reason, message } = readEvent(id, clock(), event, payload);
    if (reason) {
      fail(message as string);
      return ledger.dropped([`${text}}`], reason);
    }
    enter(({ correlationValue }) => add(stamp(text, correlationValue)), `${text}}`);
  };

  const identify = (primaryKey: string) => {
    const id = uuid();
    const at = clock();
    enter((before) => {
      const next = identified(before, service, primaryKey);
      if (next === before) return;
      become(next);
      ledger.tracked();
      const payload = JSON.stringify({ distinct_id: primaryKey });
      add(stamp(draftEvent(id, at, IDENTIFY, payload), next.correlationValue));
    });
  };

  const setProperties = (properties: unknown) => {
    const { json, message } = readProperties(properties);
    if (!json) return fail(message as string);
    const id = uuid();
    enter(({ primaryKeys }) => {
      const primaryKey = primaryKeys[service];
      primaryKey ? add(upsert(id, primaryKey, json)) : fail('setProperties: call identify() first, the service sets properties of known customers only');
    });
  };

  /** Opens the database, learns who the visitor is, and lets in the calls that waited for it. */
  const boot = async () => {
    const candidate = newIdentity(carried(THREAD) as string | undefined);
    const [known, page] = await Promise.all([
      loadIdentity(store, candidate),
      store.update<number>('pages', (pages = 0) => pages + 1),
    ]);
    if (gate.isRefused()) return;
    identity = heard ?? known;
    carry(THREAD, identity.correlationValue);
    isBooted = true;
    gate.open();
    for (const text of (carried(itemsCarried) as ItemText[] | undefined) ?? []) {
      if (!isUpsert(text)) ledger.tracked();
      queue.add(text);
    }
    queue.open(page);
    carry(itemsCarried);
    whenIdleAfterLoad(() => delivery.flush(true));
  };

  const start = () => {
    gate.shut();
    booting = boot();
  };

  const forget = () => {
    booting = identity = heard = undefined;
    isBooted = false;
    gate.refuse();
    queue.open(0);
    ledger.dropped(queue.remove(queue.items().map(idOf)).removed, 'consent');
    store.clear();
    for (const key of [THREAD, CALLS, itemsCarried]) carry(key);
  };

  const leave = () => {
    channel.close();
    if (!booting) return;
    identity ??= newIdentity(carried(THREAD) as string | undefined);
    gate.open();
    delivery.leave();
    if (isBooted) return;
    // The database is not open yet, and an open that starts now comes too late.
    carry(THREAD, identity.correlationValue);
    carry(itemsCarried, [...new Set([...((carried(itemsCarried) as ItemText[] | undefined) ?? []), ...queue.items()])]);
  };

  const restore = () => {
    channel.reopen();
    delivery.restore();
    if (!isBooted) return;
    // Another tab may have identified somebody else meanwhile.
    gate.shut();
    loadIdentity(store, identity as Identity).then((known) => {
      identity = known;
      gate.open();
    });
  };

  const unwatch = watchLifecycle({
    hidden: () => isBooted && delivery.flush(false),
    wake: () => isBooted && delivery.wake(),
    leave,
    restore,
  });

  if (settings.respectGpc && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) gate.refuse();
  else if (settings.consent === 'granted') start();

  return {
    track: (event, ...[payload]) => trackEvent(uuid(), event, payload),
    trackNow: (event, ...[payload]) =>
      new Promise((resolve) => {
        const id = uuid();
        ledger.whenEnded(id, resolve);
        singles.add(id);
        trackEvent(id, event, payload);
        enter(() => delivery.flush(false));
      }),
    identify(primaryKey, properties) {
      const fault = primaryKeyFault(primaryKey);
      if (fault) return fail(fault);
      identify(primaryKey);
      if (properties !== undefined) setProperties(properties);
    },
    setProperties,
    page: (overrides) => trackEvent(uuid(), 'page_view', { ...pageContext(), ...overrides }),
    reset: () => enter(() => become(newIdentity())),
    consent(granted) {
      if (!granted) {
        forget();
        channel.post({ identity: null });
      } else if (!booting) start();
    },
    flush: async () => {
      await booting;
      if (isBooted) await delivery.flush(true);
    },
    correlationValue: () => new Promise((resolve) => enter((visitor) => resolve(visitor.correlationValue))),
    stats: () => ledger.stats(gate.texts().length + queue.items().filter((text) => !isUpsert(text)).length),
    on,
    stop() {
      unwatch();
      channel.close();
      delivery.stop();
    },
  };
};
