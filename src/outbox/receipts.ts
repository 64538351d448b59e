import { v4 as uuid } from 'uuid';
import { isVisitorId } from '../visitor/record.js';
import { carried, carriedKeys, carry, HANDED, type Local } from './carryOver.js';

/** A request whose answer its page may never read. A later page asks the relay what has come of it. */
export interface Handed {
  /** Names the request to the relay. */
  readonly id: string;
  /** When it was handed over, in ms since the epoch. */
  readonly at: number;
  /** Ids of its events and upserts. */
  readonly ids: readonly string[];
  /** The browser sends it only if its page ends. */
  readonly isArmed?: boolean | undefined;
}

/** The requests of all pages that nobody has asked about yet, in localStorage: a page that leaves can write there. */
export interface Receipts {
  /** A name for a request. */
  makeId(): string;
  /** Keeps this, unless it has no events. Where there is no room, a later page sends the events again. */
  write(handed: Omit<Handed, 'at'>): void;
  /** Nobody needs to ask about these any more. */
  drop(handed: readonly Pick<Handed, 'id'>[]): void;
  /**
   * Those to ask about, oldest first. Of requests that the browser sends only if their page ends, these are the ones that were there
   * before this page: the others belong to pages that are open.
   */
  open(): Handed[];
  /** Ids of the events in them: nobody sends these before the relay has answered. */
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
    carriedKeys(prefix, local)
      .map((key): Handed => ({ ...Object(carried(key, local)), id: key.slice(prefix.length) }))
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
      if (handed.ids[0] && all().length < MOST_HANDED) carry(prefix + id, local, { ...handed, at: Date.now() });
    },
    drop(handed) {
      for (const { id } of handed) {
        if (!carry(prefix + id, local)) dropped.add(id);
      }
    },
    open,
    held: () => new Set(open().flatMap(({ ids }) => ids)),
  };
};
