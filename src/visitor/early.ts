import { EARLY, entryText, type Local, writeEntry } from '../outbox/local.js';
import { type ItemText, isEvent, isItem } from '../recorder/event.js';
import { jsonOf, parseJson } from '../wire.js';
import type { Call, Finished } from './calls.js';

/** An upsert as a page leaves it. One from before `identify` has the visitor id in place of the primary key. */
interface LeftUpsert {
  readonly primary_key?: unknown;
  readonly correlationValue?: unknown;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The call of an upsert that has no customer, or undefined for any other item.
 *
 * @param thread its visitor id, if an earlier version of clew has written it
 */
export const earlyCall = (text: ItemText, thread?: string, at?: number): Call | undefined => {
  const upsert = isEvent(text) ? undefined : parseJson<LeftUpsert>(text);
  if (!upsert || upsert.primary_key) return undefined;
  const { correlationValue: owner = thread, ...rest } = upsert;
  return { text: jsonOf(rest), owner, at };
};

/** The properties of a visitor before `identify`. One upsert for all tabs: each of them reads and writes localStorage in one task. */
export const createEarly = (service: string, local?: Local) => {
  const key = `${EARLY} ${service}`;
  /** Has the upsert where localStorage does not take it. */
  const memory: Local = {};

  /** Removes the upsert that waits, and returns it if there is one. */
  const take = (): ItemText[] => {
    const text = entryText(key, memory) ?? entryText(key, local);
    for (const place of [memory, local]) writeEntry(key, place);
    // Any code of the origin may have written it.
    return isItem(text) && earlyCall(text) ? [text] : [];
  };

  return {
    take,
    /** Keeps an upsert, together with an earlier one of the same visitor id. A later value counts. */
    keep([draft, { correlationValue }]: Finished) {
      const upsert: LeftUpsert = JSON.parse(draft);
      const [before = '{}'] = take();
      const { correlationValue: owner, properties }: LeftUpsert = JSON.parse(before);
      const all = { ...(owner === correlationValue && properties), ...upsert.properties };
      const joined = { ...upsert, properties: all, correlationValue };
      if (!writeEntry(key, local, joined)) writeEntry(key, memory, joined);
    },
  };
};
