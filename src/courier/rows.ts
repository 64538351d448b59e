import type { Row } from '../outbox/store.js';
import { type ItemText, idOf } from '../recorder/event.js';

type IsLeft = (text: unknown) => text is ItemText;

/** Everything in these rows. Foreign code can write anything into the store. */
export const allIn = (rows: readonly Row[]): readonly unknown[] => rows.flatMap(([, items]) => [items].flat());

/** The rows that change when only these items are left, in their new form. */
export const changedRows = (rows: readonly Row[], isLeft: IsLeft): Row[] =>
  rows.flatMap((row): Row[] => {
    const [key] = row;
    const all = allIn([row]);
    const left = all.filter(isLeft);
    return left[0] && left.length === all.length ? [] : [[key, left[0] ? left : undefined]];
  });

/** Those of these texts that are new to the set. */
const newIn = (texts: readonly ItemText[], known: Set<string>, page = ''): ItemText[] =>
  texts.filter((text) => known.size < known.add(page + idOf(text)).size);

/** The events of these rows, each once: several pages may have stored the same one. */
export const textsIn = (rows: readonly Row[]): ItemText[] =>
  newIn(
    rows.flatMap(([, texts = []]) => texts),
    new Set(),
  );

/**
 * The rows with their unsent events, each once in the rows of one page. A page journals an event again if it does not know whether
 * it was stored, and another page may have stored it from that journal.
 */
export const leftIn = (rows: readonly Row[], isLeft: IsLeft): Row[] => {
  const known = new Set<string>();
  return rows.flatMap((row): Row[] => {
    const [key] = row;
    const texts = newIn(allIn([row]).filter(isLeft), known, key[3]);
    return texts[0] ? [[key, texts]] : [];
  });
};
