import { v4 as uuid } from 'uuid';
import { createLedger } from './api/ledger.js';
import { createMethods } from './api/methods.js';
import type { Settings } from './api/options.js';
import { createReports, createSignals, type Trace } from './api/signals.js';
import type { Tracker } from './api/types.js';
import { createDelivery } from './courier/courier.js';
import { createSender } from './courier/sender.js';
import { createFarewell } from './outbox/farewell.js';
import { createIntake } from './outbox/intake.js';
import { createJournal } from './outbox/journal.js';
import { createQueue } from './outbox/queue.js';
import { createStore } from './outbox/store.js';
import { createChannel } from './page/channel.js';
import { createPlugins } from './page/plugins.js';
import { whenSeen } from './page/prerender.js';
import { createVisit } from './page/visit.js';
import { idOf } from './recorder/event.js';
import type { Step } from './recorder/prepare.js';
import { createRecorder } from './recorder/recorder.js';
import type { Call } from './visitor/calls.js';
import { createNumbering } from './visitor/number.js';
import { createVisitor } from './visitor/visitor.js';

/** Bytes of the page's keep-alive requests in flight: its trackers share the browser's quota. */
const FLIGHT = { bytes: 0 };

/**
 * The tracker: options in, recorder, visitor, outbox, courier and page out. It only connects them, and has no state.
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
  const { storageName: service, apiKey, cookieDomain: elsewhere, linkDomains } = settings;
  /** Names this page's rows in the store, and its journal. */
  const page = uuid();
  const isDirect = !!apiKey;

  const [on, emit] = createSignals(settings.debug);
  const trace = (make: () => Trace) => emit('trace', make);
  const { fail, failWith, attempt } = createReports(emit);
  const ledger = createLedger(emit, settings.maxAge, (dropped, key) => enter({ dropped, key }));
  const store = settings.store ?? createStore(fail);
  const journal = createJournal(service, page);
  const farewell = createFarewell(service);
  const channel = createChannel(`clew ${service}`, (message) => {
    if (typeof message === 'boolean') visit.answer(message);
    else if (typeof message === 'number') queue.receive(message);
    else if ('thread' in message) visitor.receive(message);
    else courier.receive(...message);
  });

  const queue = createQueue({
    store,
    journal,
    service,
    page,
    limits: settings,
    pages: () => visitor.pages(),
    onStored: (items) => items[0] && trace(() => ({ step: 'stored', uuids: items.map(idOf) })),
    onSize: channel.post,
  });

  const courier = createDelivery({
    store,
    queue,
    service,
    flight: FLIGHT,
    makeName: uuid,
    hasLeft: farewell.hasLeft,
    limits: settings,
    isDirect,
    ...createSender(settings, trace, () => tellHosts()),
    onError: fail,
    onReport: channel.post,
    onAnswer: (uuids, answer) => trace(() => ({ step: 'answered', uuids, ...answer })),
    onLink(link, tab) {
      if (link.by === tab) farewell.forgetLeases();
      trace(() => ({ step: 'link', tab, ...link }));
    },
    onSettled: ledger.settle,
    onLost: ledger.lose,
  });

  const visitor = createVisitor({
    service,
    store,
    journal,
    elsewhere,
    ...createIntake({
      queue,
      number: createNumbering(() => visitor.pages(), !isDirect),
      begin: ledger.begin,
      onIdentify: (text) => trace(() => ({ step: 'tracked', event: JSON.parse(text) })),
      drop: (text, reason) => ledger.end([text], reason),
      onAdded: courier.added,
      fail,
    }),
    measure: queue.measure,
    persist: (entry) => queue.persist([entry]),
    rows() {
      // The journal has them until they are stored.
      queue.carry(false);
      return queue.collect();
    },
    arrive: () => arriveByLink && attempt(arriveByLink),
    settled(isStart) {
      const ids = farewell.settled();
      // The pages that settled these have left, and post no report any more.
      if (isStart) courier.receive(ids, ids, []);
      if (isStart) farewell.forgetSettled();
      return new Set(ids);
    },
    onVisitor: ({ thread, keys }) =>
      trace(() => ({ step: 'visitor', visitorId: thread, primaryKey: keys[service]?.[0] })),
    // Soon, not after the full interval: it proves the link. The database's answer has let the page's first work go ahead.
    onLoad: () => courier.flush(true),
    onChange: channel.post,
    onRefused: (texts) => ledger.end(texts, 'consent'),
    onMissed: () => visit.refuse(),
    fail,
  });
  const [arriveByLink, watchLinks] = linkDomains ? linkDomains(service, visitor.known) : [];
  /** The site's other hosts know of the visitor, too; nothing, after a refusal. */
  const tellHosts = () => elsewhere?.tell(visitor.known(), fail);
  /** Takes a call that needs the visitor. Calls of a page that unloads are handed over at the end of the microtask. */
  const enter = (call: Call) => {
    visitor.enter(call);
    if (visitor.isAway()) queueMicrotask(visit.depart);
  };

  const recorder = createRecorder({
    steps,
    clock,
    replayedId,
    isFull: () => ledger.counts.queued > settings.maxQueuedEvents,
    begin: ledger.begin,
    end: ledger.end,
    trace,
    attempt,
    fail: failWith,
    start: () => visitor.check(),
    take(text, isSingle) {
      if (isSingle) courier.single(idOf(text));
      // An event that is too large is dropped later, when it has its number, so that the relay's report counts it.
      if (queue.excessOf(text, visitor.size()) === 'full') return ledger.end([text], 'full');
      enter({ text });
    },
    rest(isBurst) {
      visitor.write();
      // A crash drops writes that are queued behind the courier's read or behind a database that is opened again.
      const isHeldUp = !isBurst && (courier.isReading() || !store.isOpen());
      if (visitor.pages() && (isHeldUp || visitor.isBusy())) queue.carry(false);
    },
  });

  const visit = createVisit({
    settings,
    recorder,
    visitor,
    queue,
    store,
    courier,
    farewell,
    channel,
    ledger,
    trace,
    tellHosts,
  });
  const tracker = createMethods({
    recorder,
    on,
    counts: ledger.counts,
    isDirect,
    clock,
    replayedId,
    enter,
    write: visitor.write,
    answer(isGranted) {
      visit.answer(isGranted);
      channel.post(isGranted);
    },
    flush: visit.flush,
    visitorId: visitor.visitorId,
    stop() {
      unplug();
      visit.stop();
    },
    attempt,
    fail,
  });
  const [watch, unplug] = createPlugins([settings.pageViews, settings.clicks, watchLinks], tracker, attempt);
  whenSeen(watch);
  return tracker;
};
