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

/** The rows with their unsent events, each once. A page journals an event again if it does not know whether it was stored. */
export const leftIn = (rows: readonly Row[], isLeft: IsLeft): Row[] => {
  const known = new Set<string>();
  const isNew = (text: unknown): text is ItemText => isLeft(text) && !known.has(idOf(text)) && !!known.add(idOf(text));
  return rows.flatMap((row): Row[] => {
    const texts = allIn([row]).filter(isNew);
    return texts[0] ? [[row[0], texts]] : [];
  });
};
