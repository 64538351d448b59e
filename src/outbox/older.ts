import { type ItemText, isEvent } from '../recorder/event.js';

/** The part of the stored rows that memory lacks. */
export interface Older {
  readonly events: number;
  readonly upserts: number;
  /** The generation of the store that had the first of it. With a later one, that may be gone. */
  readonly generation: number;
  /** The page is back from the back/forward cache, where it received no messages, and no read has seen the end of the store since. */
  readonly isBack?: boolean;
  /** The store may have rows of other pages. Undefined before the database has answered. */
  readonly hasOthers?: boolean | undefined;
}

/** @param by 1 for items that only the store has from now on, -1 for items that it has no more */
export const changed = (older: Older, texts: readonly ItemText[], by: 1 | -1): Older => {
  const events = texts.filter(isEvent).length;
  const upserts = texts.length - events;
  return { ...older, events: older.events + by * events, upserts: older.upserts + by * upserts };
};

/** The part of `texts` that may be among them. A tab may receive the same report twice. */
export const amongThem = ({ events, upserts }: Older, texts: readonly ItemText[]): ItemText[] => [
  ...texts.filter(isEvent).slice(0, events),
  ...texts.filter((text) => !isEvent(text)).slice(0, upserts),
];
