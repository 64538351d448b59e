import { type ItemText, idOf, isEvent, isIdentify, isOlder } from '../recorder/event.js';
import { parseJson } from '../wire.js';
import type { DropReason, Signals } from './signals.js';
import type { Stats } from './types.js';

/**
 * The account of this page's events: each one tracked is queued until it ends, delivered or dropped for a reason.
 *
 * @param maxAge the age (ms) from which events are not sent
 * @param disown the `$identify` of this key with this visitor id and this signature was dropped
 * @param onDropped these events were dropped, of this page or of others
 */
export const createLedger = (
  emit: <S extends keyof Signals>(signal: S, make: () => Signals[S]) => void,
  maxAge: number,
  disown: (visitorId: string, key: string, signature?: string) => void,
  onDropped: (texts: readonly ItemText[], reason: DropReason) => void,
) => {
  const counts: Stats = { tracked: 0, delivered: 0, queued: 0, dropped: {} };
  /** Counts events as tracked. A negative number stands for events that another page counts from now on. */
  const begin = (length = 1): void => {
    counts.tracked += length;
    counts.queued += length;
  };
  /** Counts events whose texts are not here: dropped if there is a reason, else delivered. */
  const endUnseen = (length: number, reason?: DropReason): void => {
    counts.queued -= length;
    if (!length) return;
    if (reason) counts.dropped[reason] = (counts.dropped[reason] ?? 0) + length;
    else counts.delivered += length;
  };
  /** Reports the end of events that are counted already. */
  const report = (items: readonly ItemText[], reason?: DropReason): void => {
    const texts = items.filter(isEvent);
    if (!texts[0]) return;
    emit(
      reason ? 'dropped' : 'delivered',
      // Other code may have written text into the store that only begins like an event.
      () => ({ events: texts.map((text) => parseJson(text) ?? {}), ...(reason && { reason }) }) as never,
    );
    // A dropped `$identify` counts as never sent. After a refusal there is no visitor.
    if (!reason || reason === 'consent') return;
    for (const text of texts.filter(isIdentify)) {
      const { correlationValue, payload, signature } = Object(parseJson(text));
      if (typeof payload?.distinct_id === 'string') disown(correlationValue, payload.distinct_id, signature);
    }
  };
  /** Counts the end of these, and returns the function that reports it. */
  const close = (items: readonly ItemText[], reason?: DropReason): (() => void) => {
    const texts = items.filter(isEvent);
    endUnseen(texts.length, reason);
    if (reason && texts[0]) onDropped(texts, reason);
    return () => report(texts, reason);
  };
  /** These have reached their end: dropped if there is a reason, else delivered. Upserts are no events. */
  const end = (...ended: Parameters<typeof close>): void => close(...ended)();
  return {
    counts,
    begin,
    close,
    end,
    endUnseen,
    report,
    /**
     * Events of this page need not be sent any more.
     *
     * @param isOthers another tab reports this. That tab also drops events of this page that have expired.
     */
    settle(items: readonly ItemText[], rejected: readonly string[], isOthers?: boolean) {
      const isRejected = (text: ItemText) => rejected.includes(idOf(text));
      const lost = items.filter(isRejected);
      // Expired events are never sent, so a report has none beside rejected ones.
      const reason = isOthers && lost[0] && isOlder(lost[0], maxAge) ? 'expired' : 'rejected';
      // First, all are counted: a listener may refuse, and that ends what is queued.
      const reports = [close(items.filter((text) => !isRejected(text))), close(lost, reason)];
      for (const report of reports) report();
    },
    /** Events of other pages are dropped: those pages may have gone. Returns the function that reports it. */
    lose(items: readonly ItemText[], reason: DropReason): () => void {
      // Other code may have written text that only begins like an event.
      const events = items.filter((text) => isEvent(text) && parseJson(text));
      begin(events.length);
      return close(events, reason);
    },
  };
};
