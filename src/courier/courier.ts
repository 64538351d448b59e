import type { Entry } from '../outbox/store.js';
import { isEvent } from '../recorder/event.js';
import { isOn, newBisection } from './bisect.js';
import { type Desk, enter, isAway, isLate, type Known, type Pass, type Settling } from './desk.js';
import { createHandover } from './handover.js';
import { createLastRequest } from './lastRequest.js';
import { isFailing, isProven, linkNameOf, newLink, release, take, timeLeft } from './lease.js';
import { createPasses } from './passes.js';
import type { Courier, CourierPorts, Report } from './ports.js';
import { read } from './read.js';
import { NO_RENEWAL } from './renewal.js';
import { createSend } from './send.js';

/** The courier. Each transaction of a pass settles the last answer, holds the lease, and reads the next rows. */
export const createCourier = (ports: CourierPorts): Courier => {
  const { store, queue, service, limits, isDirect, receipts, farewell, onReport, onSettled } = ports;
  const known: Known = { busy: new Set<string>(), settled: new Set<string>(), singles: new Set<string>() };
  const bisection = newBisection(limits.maxBatchBytes);
  const desk: Desk = {
    ports,
    bisection,
    known,
    state: { holder: ports.makeName(), does: 'wait' },
    link: newLink(),
    renewal: NO_RENEWAL,
    waiting: 0,
    refusals: 0,
  };
  const lastRequest = createLastRequest();
  const handover = createHandover(desk);

  const apply = ([taken, done, rejected, sent]: Report, isOthers?: boolean) => {
    const { busy, settled } = known;
    const removed = queue.remove(done, sent, isOthers);
    busy.clear();
    for (const id of taken) busy.add(id);
    // A page has handed them over as it left, and perhaps the database had no time to delete them.
    for (const id of done) if (busy.has(id)) settled.add(id);
    handover.replace();
    onSettled(removed, rejected, isOthers);
  };

  const report = (...made: Report) => {
    const [taken, done, rejected, sent = []] = made;
    const others = sent.filter(([page]) => page !== queue.page);
    onReport([taken, done, rejected, others]);
    farewell.settle(others);
    apply(made);
  };

  /** How long an event waits for others. The first request goes at once, because its answer shows whether the link works. */
  const interval = () => (isProven(desk.link, Date.now()) ? limits.flushInterval : 1);

  const isFull = () => queue.items.size >= limits.maxBatchEvents || queue.length() >= limits.maxBatchBytes;

  /** The pass is over: schedules the next one if events remain. */
  const rest = ({ entered: { holder }, found: { link, remaining }, hasSettled, wasEmpty }: Pass) => {
    const delay = timeLeft(link, holder, Date.now());
    // The link was not free. Perhaps it is by now: a timer may end a moment early, and another tab may release its lease at any time.
    if (link.until && link.by !== holder) passes.schedule(link.by ? Math.min(delay, limits.flushInterval) : delay);
    else if ((hasSettled || wasEmpty) && (remaining >= limits.maxBatchEvents || isFull())) passes.flush();
    else if (remaining || queue.items.size) passes.schedule(wasEmpty ? interval() : limits.flushInterval);
    // Without the database, a pass sees the events of memory only.
    else if (queue.isTrimmed()) passes.schedule(limits.flushInterval);
  };

  const passes = createPasses(async (isForced) => {
    // Queued events get their rows now, so that the pass can distinguish them from later events.
    queue.persist();
    if (isAway(desk)) return;
    const pass: Pass = {
      refusals: desk.refusals,
      scope: { page: queue.page, latest: queue.count() },
      entered: desk.state,
      found: { link: newLink(), rows: [], remaining: 0 },
      hasSettled: false,
      wasEmpty: !queue.items.size,
    };
    let settling: Settling = { change: (...held) => take(...held, isForced), writes: [] };
    while (queue.persist()) {
      const rows = await read(desk, pass, settling);
      if (isLate(desk, pass)) return;
      if (!rows) break;
      settling = await send(pass, rows);
      // A late answer still settles its events.
      if (isLate(desk, pass)) return void queue.persist(settling.writes);
    }
    enter(desk, pass, 'wait');
    rest(pass);
  });

  const send = createSend(desk, lastRequest, report, passes.attempt);

  const leave = (records: readonly Entry[] = [], isUnloading?: boolean): string => {
    const { holder, settling, does } = desk.state;
    desk.state = { holder, does: 'stay away' };
    handover.disarm();
    const isHeld = desk.link.by === holder && timeLeft(desk.link, '', Date.now()) > 0;
    const after = { ...desk.link };
    // The transaction that was to write the last answer is aborted.
    if (isHeld) settling?.change(after, holder, Date.now());
    // A service that fails would fail again, and does not drop duplicates.
    const isSure = isProven(after, Date.now());
    const { id, ids } = lastRequest.take(isUnloading) ?? { ids: [] };
    for (const id of ids) known.busy.add(id);
    const handed = isDirect && isFailing(after, Date.now()) ? [] : handover.handOver();
    if (id) receipts?.write({ id, ids });
    // The page cannot read the answer. With a relay it keeps its events, because a later page can ask the relay. A service cannot be asked.
    if (isDirect && isSure && !isOn(bisection)) report([...known.busy], handed, []);
    store.abort();
    const written: Entry[] = [...records, ...(settling?.writes.filter(([, items]) => !items || isHeld) ?? [])];
    release(after, holder);
    // In one transaction with the rows: a tab that takes the lease must not find settled events.
    if (isHeld && settling) written.push([linkNameOf(service), after]);
    desk.link = after;
    queue.persist(written, true);
    // An aborted transaction may have been complete already, and the transaction that releases the lease may be lost.
    const mayHold = isHeld || does !== 'wait';
    // A later page that leaves before its database has answered must not hand over newer properties before these.
    const hasProperties = ![...queue.items.values()].every(isEvent);
    return mayHold || hasProperties ? holder : '';
  };

  return {
    added() {
      handover.renewSoon();
      if (isAway(desk)) queueMicrotask(() => isAway(desk) && leave());
      // A running pass looks at the queue at its end.
      if (desk.state.does !== 'wait') return;
      // Not in the call's own task. If a click tracks and leaves the page, the event must be free for the handover, and not in flight.
      if (!isFull()) passes.schedule(interval());
      else if (!timeLeft(desk.link, desk.state.holder, Date.now())) passes.flush();
    },
    lookSoon: () => passes.schedule(limits.flushInterval),
    flush: passes.flush,
    receive: (...made) => apply(made, true),
    leave,
    isReading: () => desk.state.does === 'read' || desk.state.does === 'commit',
    single: (id) => void known.singles.add(id),
    settled: () => known.settled,
    forget() {
      desk.refusals++;
      if (!isAway(desk)) desk.state = { holder: desk.state.holder, does: 'wait' };
      desk.link = newLink();
      passes.renew();
      apply([[], [], []]);
    },
    renewBy(renewal) {
      desk.renewal = renewal;
    },
    restore() {
      desk.state = { holder: ports.makeName(), does: 'wait' };
      queue.restore();
      passes.renew();
    },
  };
};
