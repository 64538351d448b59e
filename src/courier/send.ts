import type { Sent } from '../outbox/queue.js';
import type { Row } from '../outbox/store.js';
import { type ItemText, idOf, isOlder } from '../recorder/event.js';
import { UPSERT_PATH } from '../wire.js';
import { ask } from './ask.js';
import type { Batch } from './cut.js';
import { type Desk, enter, isAway, isLate, type Pass, type Settling } from './desk.js';
import { addTo } from './flight.js';
import { judge } from './judge.js';
import type { LastRequest } from './lastRequest.js';
import { fail, type Link, linkNameOf, release, take, timeLeft } from './lease.js';
import { type Next, nextRequest } from './next.js';
import type { Report } from './ports.js';
import { receiptOf } from './question.js';
import { copyOf, isLeftFor, orMemory } from './read.js';
import { allIn, changedRows, leftIn, textsIn } from './rows.js';
import { type Answer, isKeptAlive } from './transport.js';

/** From this age (ms) on, an event does not travel alone: the endpoint for one event takes no time. */
const LATE = 30_000;

/** Sends the next request of a pass. */
export const createSend = (
  desk: Desk,
  lastRequest: LastRequest,
  /** Reports to this page and to the other tabs. */
  report: (...made: Report) => void,
  /** A request is sent. */
  onAttempt: () => void,
) => {
  const { ports, known, bisection } = desk;
  const { store, queue, limits, receipts } = ports;
  const isLeft = isLeftFor(known);

  const ready = (items: readonly ItemText[]) => {
    const [withoutWaiting] = desk.renewal;
    const found = withoutWaiting(items);
    desk.waiting = items.length - found.length;
    return found;
  };

  /** The books of a request with this batch. Memory may have more than the rows, which have these texts. */
  const statedFor =
    ({ found }: Pass, texts: readonly ItemText[]) =>
    ({ items }: Batch, room: number) => {
      const { ended = [] } = found;
      const ids = items.map(idOf);
      const others = (text: ItemText) => !ids.includes(idOf(text));
      // Only an ended book depends on them, and there may be thousands.
      const queued = ended[0] ? [...texts, ...queue.items.values()].filter(others) : [];
      return ports.books?.stated(room, ended, queued) ?? [];
    };

  /** Which of these events are other pages'. */
  const othersIn = (rows: readonly Row[], ids: ReadonlySet<string>): ItemText[] => {
    const own = new Set(rows.flatMap(([key, texts = []]) => (key[3] === queue.page ? texts.map(idOf) : [])));
    const isOthers = (text: ItemText) => ids.has(idOf(text)) && !queue.items.has(idOf(text)) && !own.has(idOf(text));
    return textsIn(rows).filter(isOthers);
  };

  /**
   * Reports settled events. Lost events of other pages are reported here, because their pages may have gone.
   *
   * @param handed ids of events that a page has handed over. The report also names them as in flight, so that no tab sends them, even
   * if it takes them in from that page's journal now.
   */
  const settle = (
    pass: Pass,
    rows: readonly Row[],
    done: readonly string[],
    lost: readonly string[],
    reason: 'rejected' | 'expired' = 'rejected',
    handed: readonly string[] = [],
  ) => {
    const ids = new Set(done);
    const isDone = (text: ItemText) => ids.has(idOf(text));
    const sent = rows.map(([key, texts = []]): Sent => [key[3], ...texts.filter(isDone)]).filter(([, text]) => text);
    // If the visitor has refused meanwhile, they are dropped already, and no book may have them.
    const isOver = pass.refusals !== desk.refusals;
    const reportLost = ports.onLost(isOver ? [] : othersIn(rows, new Set(lost)), reason);
    queue.settled(sent.flatMap(([, ...texts]) => texts));
    report(handed, done, lost, sent);
    pass.hasSettled = !!done[0];
    // A listener may refuse, and then nothing must be written any more.
    reportLost();
  };

  /** The rows as this page may store them. After its lease has expired, it must not restore a row that another tab has deleted. */
  const writesOf = (pass: Pass, rows: readonly Row[]): Row[] => {
    const isHeld = !isLate(desk, pass) && Date.now() < desk.link.until;
    return changedRows(rows, isLeft).filter(([, items]) => !items || isHeld);
  };

  /** All tabs wait as an answer has asked, unless one is sending again. After a refusal nothing is written. */
  const pause = async (retryAfter: number) => {
    if (isAway(desk) || !queue.persist()) return;
    await store.transact<Link>([], linkNameOf(ports.service), (old) => {
      const paused = copyOf(ports, old);
      const now = Date.now();
      // Perhaps all tabs wait longer already.
      if (retryAfter > timeLeft(paused, desk.state.holder, now)) fail(paused, '', now, false, retryAfter);
      return paused;
    });
  };

  const request = async ({ batch, sent, id }: Next, ids: readonly string[], packed?: Uint8Array<ArrayBuffer>) => {
    report(ids, [], []);
    // The report arrives a moment late, or never without BroadcastChannel. A page that leaves must not hand over later properties meanwhile.
    if (id && batch.path === UPSERT_PATH) receipts?.write({ id, ids, isUpsert: true });
    // If this attempt fails, the event travels in a batch, with its timestamp.
    for (const one of ids) known.singles.delete(one);
    onAttempt();
    const onEnd = lastRequest.begin(id, ids);
    const answering = ask(() => ports.send(sent, false, packed));
    const bytes = packed?.length ?? sent.bytes;
    const isKept = isKeptAlive(bytes);
    if (isKept) addTo(ports.flight, bytes, answering);
    const answer = await answering;
    onEnd(answer, isKept);
    return answer;
  };

  /** Sends the next batch of these rows, and returns the changes of the store that follow from its answer. */
  return async (pass: Pass, rows: readonly Row[]): Promise<Settling> => {
    const left = orMemory(queue, leftIn(rows, isLeft));
    const texts = textsIn(left);
    const { singles } = known;
    for (const text of texts) if (singles.has(idOf(text)) && isOlder(text, LATE)) singles.delete(idOf(text));
    const stated = statedFor(pass, texts);
    const isEnd = !!pass.found.all;
    const next = nextRequest(texts, isEnd, ready, receipts, limits, bisection, singles, ports.clock, stated);
    // These rows hold nothing to send: delete them and read on, unless all that is stored waits for a new token.
    if (!next) {
      desk.waiting = allIn(rows).length;
      return { change: left[0] && pass.found.all ? release : take, writes: changedRows(rows, isLeft) };
    }
    const { batch, sent, id, questions, books } = next;
    enter(desk, pass, 'send');
    const packed = await ports.pack(sent.body).catch(() => undefined);
    const ids = batch.items.map(idOf);
    const held = receipts?.held();
    const isHanded = ids.some((one) => held?.has(one));
    // The page has left, or the lease has expired while the tab was frozen: another tab may be sending these events. Or their page has
    // left, and has handed them over.
    if (isHanded || isLate(desk, pass) || Date.now() > desk.link.until) return { change: take, writes: [] };
    // This page knows that its own events are not so old: the clock may have jumped.
    const expired = othersIn(left, new Set(ids))
      .filter((text) => isOlder(text, limits.maxAge))
      .map(idOf);
    if (expired[0]) {
      for (const id of expired) known.settled.add(id);
      settle(pass, left, expired, expired, 'expired');
      return { change: take, writes: changedRows(rows, isLeft) };
    }
    const answer = await request(next, ids, packed);
    // A page that has left meanwhile, and is back, keeps its note of the request: other tabs may still find a row with its events.
    if (batch.path === UPSERT_PATH && !isLate(desk, pass)) receipts?.drop([{ id }]);
    if (id && answer.outcome === 'delivered') ports.books?.settle(books);
    ports.onAnswer(ids, answer);
    const [, withoutExpired] = desk.renewal;
    const [ended, final] = withoutExpired(batch.items, answer);
    // An upsert travels alone.
    const isKept = final.outcome === 'rejected' && !!ended[0] && ports.keep(ended[0]);
    const verdict: Answer = isKept ? { ...final, outcome: 'delivered' } : final;
    const { done, lost, isTooLarge, isError, change } = judge(bisection, ended, next, verdict);
    if (isError) ports.onError(answer.message ?? 'the transport gave no message');
    const { taken = [], others = [] } = (!isTooLarge && receiptOf(questions, batch, answer)) || {};
    receipts?.drop(others);
    for (const { ids } of taken) ports.onAnswer([...ids], { outcome: 'delivered' });
    const takenIds = taken.flatMap(({ ids }) => ids);
    if (takenIds[0]) ports.farewell.settle([], takenIds);
    const settled = [...done, ...takenIds];
    for (const id of settled) known.settled.add(id);
    // A listener may stop the tracker: then the departure writes what the answer has changed.
    if (!isLate(desk, pass)) enter(desk, pass, 'send', { change, writes: writesOf(pass, rows), taken });
    settle(pass, left, settled, lost, 'rejected', takenIds);
    if (answer.retryAfter && isLate(desk, pass)) await pause(answer.retryAfter);
    return { change, writes: writesOf(pass, rows), taken };
  };
};
