import { EARLY, entryText, type Local, writeEntry } from '../outbox/local.js';
import { type ItemText, isEvent, isItem } from '../recorder/event.js';
import { jsonOf, parseJson } from '../wire.js';
import type { Call, Finished } from './calls.js';

/** An upsert as a page leaves it. One from before `identify` has the visitor id in place of the primary key. */
interface LeftUpsert {
  readonly primary_key?: unknown;
  readonly correlationValue?: unknown;
  readonly properties?: Properties | undefined;
  /** Those of `properties` that are newer than the rejected ones. Without it, all are. */
  readonly newer?: Properties | undefined;
}
type Properties = Readonly<Record<string, unknown>>;

/**
 * The call of an upsert that has no customer, or undefined for any other item.
 *
 * @param thread the visitor id of the upsert, if an earlier version of clew has written the upsert
 */
export const earlyCall = (text: ItemText, thread?: string, at?: number): Call | undefined => {
  const upsert = isEvent(text) ? undefined : parseJson<LeftUpsert>(text);
  if (!upsert || upsert.primary_key) return undefined;
  const { correlationValue: owner = thread, newer: _newer, ...rest } = upsert;
  return { text: jsonOf(rest), owner, at };
};

/** The properties of a visitor before `identify`: one upsert for all tabs. If two tabs write within a few ms, one write may be lost. */
export const createEarly = (service: string, shared: Local, isOver: () => boolean) => {
  const key = `${EARLY} ${service}`;
  /** Has the upsert where localStorage does not take it. */
  const memory: Local = {};

  /** Removes the upserts that wait, and returns them. There are two if another tab has found room in localStorage. */
  const take = (): ItemText[] => {
    // The upsert in localStorage may belong to a later consent than this page.
    const places = isOver() ? [memory] : [memory, shared];
    const texts = places.map((place) => entryText(key, place));
    for (const place of places) writeEntry(key, place);
    // Any code of the origin may have written it.
    return texts.filter((text) => isItem(text)).filter((text) => earlyCall(text));
  };

  return {
    take,
    /** Forgets the upsert that only this page has. */
    forget: () => void writeEntry(key, memory),
    /**
     * Keeps an upsert, together with an earlier one of the same visitor id. A later value counts.
     *
     * @param isRejected the upsert was sent before, and is older than all that wait, except others that were rejected
     */
    keep([draft, { correlationValue }]: Finished, isRejected?: boolean) {
      const upsert: LeftUpsert = JSON.parse(draft);
      const before = take()
        .map((text): LeftUpsert => JSON.parse(text))
        .filter(({ correlationValue: owner }) => owner === correlationValue);
      const hasRejected = isRejected || before.some(({ newer }) => newer);
      const waiting = hasRejected && before.map(({ newer, properties }) => newer ?? properties);
      const newer: Properties | false = waiting && Object.assign({}, ...waiting, !isRejected && upsert.properties);
      const properties = Object.assign({}, ...before.map((one) => one.properties), upsert.properties, newer);
      const joined = { ...upsert, properties, ...(newer && { newer }), correlationValue };
      if (isOver() || !writeEntry(key, shared, joined)) writeEntry(key, memory, joined);
    },
  };
};
