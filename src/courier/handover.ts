import { byteLength, type ItemText, idOf, isEvent } from '../recorder/event.js';
import { jsonOf, UPSERT_PATH } from '../wire.js';
import { ask } from './ask.js';
import { type Batch, joinUpserts, nextBatch } from './cut.js';
import { type Desk, isAway } from './desk.js';
import { addTo, KEEPALIVE_QUOTA } from './flight.js';
import { withFields } from './question.js';

/** Most bytes that the books may take from the events of a page that leaves. */
const MOST_STATED = 8192;
/** Most bytes of a batch that the browser holds. The address and the headers count against its quota, too. */
const MOST_ARMED = 64_000;
/** How often (ms) the browser may be given a new batch to send when the page ends. */
const INTERVAL = 100;

/** A batch for a page that ends without `pagehide`, after a crash or when the browser quits. The browser holds it. */
interface Armed {
  readonly abort?: (() => void) | undefined;
  /** Replaces it soon. */
  readonly timer?: ReturnType<typeof setTimeout> | undefined;
}

/** Gives unsent events to the browser, which sends them after the page has ended. */
export const createHandover = (desk: Desk) => {
  const { queue, limits, flight, receipts, farewell, books, clock, send, defer } = desk.ports;
  const { bisection } = desk;
  const { busy } = desk.known;
  let armed: Armed = {};

  /**
   * The first events that no tab is sending, in at most `room` bytes.
   *
   * @param isArmed the browser sends it at an unknown time. Properties could arrive after newer ones then, so neither they nor what
   * follows them is included
   * @param isAfterOthers other pages may have properties that are not confirmed, stored or in flight
   * @param added bytes that the request has beside them
   */
  const nextIdle = (room: number, isArmed?: boolean, isAfterOthers?: boolean, added = 0): Batch | undefined => {
    const open = receipts?.open() ?? [];
    const held = new Set(open.flatMap(({ ids }) => ids));
    const isBusy = (id: string) => busy.has(id) || held.has(id);
    // One upsert at a time: of two requests, the older one may arrive last. An upsert never overtakes an older one, either.
    const isChanging =
      queue.hasOlder(isAfterOthers) ||
      open.some(({ isUpsert }) => isUpsert) ||
      [...queue.items].some(([id, text]) => !isEvent(text) && isBusy(id));
    const [ready] = desk.renewal;
    const isIdle = (text: ItemText) => !isBusy(idOf(text)) && (isEvent(text) || !isChanging);
    const found = ready([...queue.items.values()].filter(isIdle));
    const end = isArmed ? found.findIndex((text) => !isEvent(text)) : -1;
    const idle = end < 0 ? found : found.slice(0, end);
    const most = Math.min(bisection.largest - added, room);
    const batch = joinUpserts(idle, most) ?? nextBatch(idle, { ...limits, maxBatchBytes: most });
    return batch && batch.bytes <= room ? { ...batch, handover: receipts?.makeId() } : undefined;
  };

  /** Lets later pages ask about this batch. Returns a function that ends that. */
  const keep = ({ items, handover: id, path }: Batch, isArmed?: boolean): (() => void) => {
    if (id) receipts?.write({ id, ids: items.map(idOf), isArmed, isUpsert: path === UPSERT_PATH });
    return () => id && receipts?.drop([{ id }]);
  };

  const disarm = () => {
    armed.abort?.();
    clearTimeout(armed.timer);
    armed = {};
  };

  /** Replaces the armed batch by the next one, or by none. */
  const renew = () => {
    disarm();
    // Without the clock: the browser sends it at an unknown time.
    const batch = isAway(desk) ? undefined : nextIdle(MOST_ARMED, true);
    try {
      const abort = batch && defer(batch);
      if (!abort) return;
      const drop = keep(batch, true);
      armed = {
        abort() {
          abort();
          drop();
        },
      };
    } catch {}
  };

  /** Events were added: renews the armed batch soon. Further calls do not delay it. */
  const renewSoon = () => {
    if (!armed.timer) armed = { ...armed, timer: setTimeout(renew, INTERVAL) };
  };

  return {
    disarm,
    renewSoon,
    /** Events are in flight, or settled: the browser must not send them, too. */
    replace() {
      if (!queue.items.size) return disarm();
      armed.abort?.();
      armed = { timer: armed.timer };
      renewSoon();
    },
    /** Hands over the events that no tab is sending, as far as there is room. Returns their ids. */
    handOver(): string[] {
      const handed: string[] = [];
      try {
        // For the relay, and not for the service. A long list of drops can wait for the next page: the events may have no other chance.
        const most = Math.min(bisection.largest >> 1, MOST_STATED);
        const added = receipts && { clock: clock(), books: books?.stated(most) };
        const bytes = added ? byteLength(jsonOf(added)) : 0;
        const isAfterOthers = !!receipts?.open()[0] || farewell.mayHaveProperties();
        while (navigator.onLine) {
          const idle = nextIdle(KEEPALIVE_QUOTA - bytes - flight.bytes, false, isAfterOthers, bytes);
          const batch = idle && added ? withFields(idle, added) : idle;
          const answer = batch && send(batch, true);
          if (!answer) break;
          // Afterwards: a crash in between leaves events that are sent again.
          keep(batch);
          // An app's transport may never answer.
          addTo(
            flight,
            batch.bytes,
            ask(() => answer),
          );
          handed.push(...batch.items.map(idOf));
          // Once is enough, even if they stay queued.
          for (const id of handed) busy.add(id);
        }
      } catch {}
      return handed;
    },
  };
};
