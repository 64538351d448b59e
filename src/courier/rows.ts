import type { Row } from '../outbox/store.js';
import type { ItemText } from '../recorder/event.js';

/** Everything in these rows. Foreign code can write anything into the store. */
export const allIn = (rows: readonly Row[]): readonly unknown[] => rows.flatMap(([, items]) => [items].flat());

/** The rows that change when only these items are left, in their new form. */
export const changedRows = (rows: readonly Row[], isLeft: (text: unknown) => text is ItemText): Row[] =>
  rows.flatMap((row): Row[] => {
    const [key] = row;
    const all = allIn([row]);
    const left = all.filter(isLeft);
    return left[0] && left.length === all.length ? [] : [[key, left[0] ? left : undefined]];
  });
