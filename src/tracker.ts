import { v4 as uuid } from 'uuid';
import { createLedger } from './api/ledger.js';
import { createMethods } from './api/methods.js';
import type { Settings } from './api/options.js';
import { createReports, createSignals, type Trace } from './api/signals.js';
import { createTraces } from './api/traces.js';
import type { PluginTools, Tracker } from './api/types.js';
import { createCourier } from './courier/courier.js';
import { FLIGHT } from './courier/flight.js';
import { createSender } from './courier/sender.js';
import { PLUGINS, VISIT } from './outbox/carryOver.js';
import { createFarewell } from './outbox/farewell.js';
import { createIntake } from './outbox/intake.js';
import { createJournal } from './outbox/journal.js';
import { createQueue } from './outbox/queue.js';
import { createReceipts } from './outbox/receipts.js';
import { createStore } from './outbox/store.js';
import { createChannel } from './page/channel.js';
import { createPlugins, createStorage } from './page/plugins.js';
import { createVisit } from './page/visit.js';
import { addContext, type Step } from './recorder/prepare.js';
import { createRecorder, LIVE, type Replay } from './recorder/recorder.js';
import { createNumbering } from './visitor/number.js';
import { createVisitor } from './visitor/visitor.js';

/**
 * The tracker: options in, recorder, visitor, outbox, courier and page out. It only connects them, and has no state.
 *
 * @param steps what an event goes through in the call that tracks it. Plugins add theirs in front.
 * @param replay of calls that were made before the tracker
 */
export const startTracker = (settings: Settings, steps: Step[], replay: Replay = LIVE): Tracker => {
  const { storageName: service, apiKey } = settings;
  /** Names this page's rows in the store, and its journal. */
  const page = uuid();
  const isDirect = !!apiKey;

  const [on, emit] = createSignals(settings.debug);
  const { fail, failWith, attempt } = createReports(emit);
  const trace = (make: () => Trace) => emit('trace', make);
  const traces = createTraces(trace, service);
  const ledger = createLedger(emit, settings.maxAge, (dropped, key) => visit.enter({ dropped, key }));

  const store = settings.store ?? createStore(fail);
  const journal = createJournal(service, page, store.local);
  const farewell = createFarewell(service, journal, store.local);
  const channel = createChannel(`clew ${service}`, (message) => {
    if (typeof message === 'boolean') visit.receive(message);
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
    onStored: traces.stored,
    onUnseen: (settled) => ledger.endUnseen(settled),
    onSize: channel.post,
  });

  const [ready, withoutExpired] = settings.renewTokens?.(
    (primaryKey) => emit('token-expired', () => ({ primaryKey })),
    () => courier.flush(),
    failWith,
  ) ?? [(items) => items, (...given) => given];
  const courier = createCourier({
    store,
    queue,
    service,
    limits: settings,
    isDirect,
    receipts: isDirect ? undefined : createReceipts(service, store.local),
    flight: FLIGHT,
    makeName: uuid,
    hasLeft: farewell.hasLeft,
    ready,
    withoutExpired,
    ...createSender(settings, traces.sent, () => visit.writeCookie()),
    onReport(report) {
      channel.post(report);
      farewell.settle(report[3]);
    },
    onAnswer: traces.answered,
    onLink(link, tab) {
      if (link.by === tab) farewell.takeOver(courier.receive);
      traces.link(link, tab);
    },
    onSettled: ledger.settle,
    onTaken: (ids) => farewell.settle([], ids),
    onLost: ledger.lose,
    onError: fail,
  });

  const visitor = createVisitor({
    service,
    store,
    journal,
    elsewhere: settings.cookieDomain,
    ...createIntake({
      queue,
      number: createNumbering(() => visitor.pages(), !isDirect),
      begin: ledger.begin,
      onIdentify: traces.tracked,
      drop: (text, reason) => ledger.end([text], reason),
      onAdded: courier.added,
      fail,
    }),
    arrive: () => arriveByLink && attempt(arriveByLink),
    settled: (isStart) => farewell.settled(isStart && courier.receive),
    onVisitor(known) {
      traces.visitor(known);
      changeLinks?.();
    },
    // Soon, not after the full interval: it proves the link. The database's answer has let the page's first work go ahead.
    onLoad: () => courier.flush(true),
    onChange: channel.post,
    onRefused: (texts) => ledger.end(texts, 'consent'),
    onMissed: () => visit.refuse(),
    fail,
  });
  const [arriveByLink, watchLinks, changeLinks] = settings.linkDomains?.(service, visitor.known) ?? [];

  const recorder = createRecorder({
    steps,
    ...replay,
    isFull: () => ledger.counts.queued > settings.maxQueuedEvents,
    begin: ledger.begin,
    end: ledger.end,
    start: () => visitor.check(),
    take: (text, isSingle) => visit.take(text, isSingle),
    rest: () => visit.rest(),
    trace,
    attempt,
    fail: failWith,
  });

  const onRefusal = () => {
    traces.visitor();
    changeLinks?.();
  };
  const onOther = () => emit('change', () => ({ visitorId: visitor.id() }));
  const parts = { settings, recorder, visitor, queue, store, courier, farewell, channel, ledger };
  const visit = createVisit({ ...parts, onOther, onRefusal, fail });
  const tools: PluginTools = {
    visitorId: visitor.id,
    onTrack: (see) => steps.unshift(addContext(see)),
    local: createStorage(PLUGINS, store.local, visitor.isStarted),
    session: createStorage(VISIT, store.local, visitor.isStarted),
  };
  const [use, unplug] = createPlugins((plugin) => plugin(tracker, tools), attempt);
  const tracker: Tracker = createMethods({
    ...visit,
    ...replay,
    recorder,
    on,
    use,
    counts: ledger.counts,
    isDirect,
    write: visitor.write,
    visitorId: visitor.visitorId,
    stop() {
      unplug();
      visit.stop();
    },
    attempt,
    fail,
  });
  [settings.plugins, settings.pageViews, settings.clicks, watchLinks].flat().forEach(use);
  return tracker;
};
