import { v4 as uuid } from 'uuid';
import { isVisitorId } from '../visitor/record.js';
import { entryKeys, HANDED, type Local, readEntry, writeEntry } from './local.js';

/** A request whose answer its page may never read. A later page asks the relay for its result. */
export interface Handed {
  /** Names the request to the relay. */
  readonly id: string;
  /** When it was handed over, in ms since the epoch. */
  readonly at: number;
  /** Ids of its events and upserts. */
  readonly ids: readonly string[];
  /** The browser sends it only if its page ends. */
  readonly isArmed?: boolean | undefined;
  /** The request has properties. */
  readonly isUpsert?: boolean | undefined;
}

/** The requests of all pages about which no page has asked yet. localStorage keeps the list, because a leaving page can write there. */
export interface Receipts {
  /** A name for a request. */
  makeId(): string;
  /**
   * Keeps this, unless it has no events, and adds it to what was kept of the same request. Where there is no room, a later page sends
   * the events again.
   */
  write(handed: Omit<Handed, 'at'>): void;
  /** The relay has answered about these requests. */
  drop(handed: readonly Pick<Handed, 'id'>[]): void;
  /**
   * The requests to ask about, oldest first. The browser sends a `fetchLater` request only when its page ends. Such requests are
   * included if they were there before this page. The others belong to open pages.
   */
  open(): Handed[];
  /** Ids of the events in them. No page sends these events before the relay has answered. */
  held(): ReadonlySet<string>;
}

/** More are not kept: together they have as many ids as the tracker stores events by default. */
const MOST_HANDED = 50;

export const createReceipts = (service: string, local?: Local): Receipts => {
  const prefix = `${HANDED} ${service} `;
  /** localStorage may refuse to delete them. */
  const dropped = new Set<string>();
  let armedBefore: ReadonlySet<string> | undefined;

  const all = () =>
    entryKeys(prefix, local)
      .map((key): Handed => ({ ...Object(readEntry(key, local)), id: key.slice(prefix.length) }))
      // Any code of the origin may have written it.
      .filter(({ id, at, ids }) => isVisitorId(id) && !dropped.has(id) && Number.isFinite(at) && Array.isArray(ids));

  const open = () => {
    const found = all();
    armedBefore ??= new Set(found.flatMap(({ id, isArmed }) => (isArmed ? id : [])));
    return found.filter(({ id, isArmed }) => !isArmed || armedBefore?.has(id)).sort((one, other) => one.at - other.at);
  };

  return {
    makeId: uuid,
    write({ id, ...handed }) {
      const before = readEntry(prefix + id, local);
      if (handed.ids[0] && (before || all().length < MOST_HANDED))
        writeEntry(prefix + id, local, { ...Object(before), ...handed, at: Date.now() });
    },
    drop(handed) {
      for (const { id } of handed) {
        if (!writeEntry(prefix + id, local)) dropped.add(id);
      }
    },
    open,
    held: () => new Set(open().flatMap(({ ids }) => ids)),
  };
};
