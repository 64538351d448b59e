import { v4 as uuid } from 'uuid';
import { createLedger } from './api/ledger.js';
import { createMethods } from './api/methods.js';
import type { Settings } from './api/options.js';
import { createReports, createSignals } from './api/signals.js';
import { createTraces } from './api/traces.js';
import type { PluginTools, Tracker } from './api/types.js';
import { createCourier } from './courier/courier.js';
import { createSender } from './courier/sender.js';
import { createIntake } from './outbox/intake.js';
import { createOutbox } from './outbox/outbox.js';
import { createChannel } from './page/channel.js';
import { createPlugins, createTools } from './page/plugins.js';
import { createVisit } from './page/visit.js';
import { createClock } from './recorder/clock.js';
import type { Step } from './recorder/prepare.js';
import { createRecorder, LIVE, type Made, type Replay } from './recorder/recorder.js';
import { createVisitor } from './visitor/visitor.js';

/**
 * The tracker: options in, recorder, visitor, outbox, courier and page out. The function only connects these parts, and has no state.
 *
 * @param steps the steps of an event in the call that tracks it. Plugins add theirs in front.
 * @param replayed the call that is being replayed
 */
export const startTracker = (settings: Settings, steps: Step[], replayed: Replay = LIVE): Tracker => {
  const { storageName: service, apiKey } = settings;
  const { now, reading } = createClock();
  const made = (): Made => replayed() ?? { at: now() };

  const [on, emit] = createSignals(settings.debug);
  const { fail, failWith, attempt } = createReports(emit);
  const traces = createTraces(emit, service);
  const ledger = createLedger(
    emit,
    settings.maxAge,
    (...dropped) => visit.disown(...dropped),
    (texts, reason) => books?.drop(texts, reason),
  );

  const channel = createChannel(`clew ${service}`, (message, more) => {
    if (typeof message === 'boolean') visit.receive(message, more);
    else if (typeof message !== 'object') queue.receive(message);
    else if ('thread' in message) visitor.receive(message);
    else courier.receive(...message);
  });
  const outbox = createOutbox(settings, {
    pages: () => visitor.pages(),
    onStored: traces.stored,
    onUnseen: (settled) => ledger.endUnseen(settled),
    channel,
    fail,
  });
  const { store, queue, farewell, books } = outbox;

  const courier = createCourier({
    ...outbox,
    service,
    limits: settings,
    isDirect: !!apiKey,
    makeName: uuid,
    clock: reading,
    keep: (item) => visitor.keep(item),
    ...createSender(settings, traces.sent, () => visit.writeCookie()),
    onReport: channel.post,
    onAnswer: traces.answered,
    onLink(link, tab) {
      if (link.by === tab) farewell.takeOver(courier.receive);
      traces.link(link, tab);
    },
    onSettled: ledger.settle,
    onLost: ledger.lose,
    onError: fail,
  });

  /** The visitor is known, or is another one, or has refused. */
  const onVisitor: typeof traces.visitor = (known) => {
    traces.visitor(known);
    changeLinks?.();
  };
  const visitor = createVisitor({
    ...outbox,
    service,
    given: settings.visitorId,
    elsewhere: settings.cookieDomain,
    ...createIntake({
      queue,
      // Before the database has answered, another page may take it in from the journal.
      number: (text) => (visitor.pages() && books?.number(text)) || text,
      begin: ledger.begin,
      onIdentify: traces.tracked,
      drop: (text, reason) => ledger.close([text], reason),
      onAdded: courier.added,
      fail,
    }),
    arrive: () => arriveByLink && attempt(arriveByLink),
    settled: (isStart) => farewell.settled(isStart && courier.receive),
    onVisitor,
    // Soon, not after the full interval: it proves the link. The database's answer has let the page's first work go ahead.
    onLoad: () => courier.flush(true),
    onChange: channel.post,
    onRefused: (texts) => ledger.end(texts, 'consent'),
    isInformed: channel.isOpen,
    onMissed: (isRenewed) => visit.miss(isRenewed),
    fail,
  });
  const [arriveByLink, watchLinks, changeLinks] = settings.linkDomains?.(service, visitor.known) ?? [];

  const recorder = createRecorder({
    steps,
    made,
    ...ledger,
    isFull: () => ledger.counts.queued > settings.maxQueuedEvents,
    start: () => visitor.check(),
    take: (text, isSingle) => visit.take(text, isSingle),
    rest: () => visit.rest(),
    onTracked: traces.tracked,
    fail: failWith,
  });

  const parts = { settings, recorder, visitor, courier, channel, ledger, emit };
  const identify = (key: string, signature: string) => tracker.identify(key, undefined, { signature });
  const visit = createVisit({ ...outbox, ...parts, identify, onRefusal: onVisitor, fail });

  const renewBy: PluginTools['renewBy'] = (make) =>
    courier.renewBy(make((primaryKey) => emit('token-expired', () => ({ primaryKey })), failWith));
  const tools = createTools({ service, visitor, steps, local: store.local, renewBy, attempt });
  const [use, unplug] = createPlugins((plugin) => plugin(tracker, tools), attempt);
  const tracker: Tracker = createMethods({
    ...visit,
    recorder,
    made,
    on,
    use,
    counts: ledger.counts,
    isDirect: !!apiKey,
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
