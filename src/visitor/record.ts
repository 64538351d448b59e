import { v4 as uuid } from 'uuid';

/** The identity of a visitor id at a service: the primary key with its signature. */
export type Identity = readonly [
  /**
   * A number stands for a primary key that this page does not know, and is its mark. Another host of the site knows the key, or this
   * page has forgotten it. 0 stands for an unknown customer, and equals no key's mark.
   */
  primaryKey: string | number,
  signature?: string | undefined,
  /** The service may not have its `$identify`: the next `identify` with this key sends it again. */
  isUnsent?: boolean | undefined,
];

/** The visitor's record on this origin. */
export interface Visitor {
  /** The visitor id (`correlationValue`): a lower-case v4 UUID. All versions of clew store it under this name. */
  readonly thread: string;
  /** The version. The visitor with the higher version counts. All versions of clew store it under this name. */
  readonly turn: number;
  /** The version with which this id began. A visitor's first id and records of earlier versions of clew have none. */
  readonly since?: number | undefined;
  /** The identity of the visitor id at each service. */
  readonly keys: Readonly<Record<string, Identity>>;
  /** The number of page loads, which numbers their rows. */
  readonly pages: number;
}

/** The visitor as a tab reports it to the others, with the epoch of its record if the tab knows that. */
export type ReportedVisitor = Visitor & { readonly epoch?: unknown };

/** Whether this is a visitor id, or another UUID of clew's. Other code can write anything into the storage. */
export const isVisitorId = (value: unknown): value is string =>
  typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(value);

/** A stored number, or 0 for a foreign value. A number from `end` on is foreign, too, because no later one could follow it. */
const numberIn = (stored: unknown, end: number): number => {
  const number = typeof stored === 'object' ? 0 : Number(stored);
  return Number.isSafeInteger(number) && number < end ? number : 0;
};

/** A stored version. In tenths of a second, versions pass 32 bits in 2030. */
export const versionIn = (stored: unknown): number => numberIn(stored, 1e13);

/**
 * The visitor in a stored value, if there is one.
 *
 * @param service the service whose tracker reads the value. The tracker receives no primary key of another service, so that it cannot
 * write that key again after a refusal there. The tracker only learns that the visitor id has a customer.
 */
export const visitorIn = (stored: unknown, service?: string): Visitor | undefined => {
  const { thread, turn, since, keys, pages } = (stored ?? {}) as Visitor;
  const known = Object.entries(Object(keys) as Visitor['keys']).filter(
    ([name, identity]) => !(name in {}) && Array.isArray(identity) && /string|number/.test(typeof identity[0]),
  );
  return isVisitorId(thread)
    ? {
        thread,
        turn: versionIn(turn),
        since: versionIn(since) || undefined,
        keys: Object.fromEntries(known.map(([name, one]) => [name, (service ?? name) === name ? one : [0]])),
        pages: Math.max(numberIn(pages, 1e9), 0),
      }
    : undefined;
};

/**
 * The least version of a change at this time (ms since the epoch), in tenths of a second. A page that has not asked the database may
 * not know the version before. That page's change still counts as the later one, because the version has the time.
 */
export const versionAt = (at: number): number => Math.floor((at - 1.7e12) / 100);

/** A visitor with a new id, after another one. */
export const newVisitor = (before?: Visitor, thread: string = uuid(), at = 0): Visitor => {
  const since = before && Math.max(before.turn + 1, versionAt(at));
  // A call that is replayed twice names the same id twice. The visitor must not keep the id of the person before.
  if (thread === before?.thread) return newVisitor(before, undefined, at);
  return { thread, turn: since ?? 0, since, keys: {}, pages: before?.pages ?? 0 };
};

/** Distinguishes people without their names: FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
export const markOf = (primaryKey: string): number => {
  let mark = 2166136261;
  for (const character of primaryKey) mark = Math.imul(mark ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  return mark;
};

/** How much is known of who identified an id. A primary key has more than its mark. */
const knowledgeOf = ([key]: Identity | readonly [] = []): number => (typeof key === 'string' ? 2 : key ? 1 : 0);

/** The identities that two sources know for the same id. If they know as much, the first source counts. */
const mergeKeys = (first: Visitor['keys'], second: Visitor['keys']): Visitor['keys'] => {
  const merged = { ...second };
  for (const [service, identity] of Object.entries(first))
    if (knowledgeOf(identity) >= knowledgeOf(merged[service])) merged[service] = identity;
  return merged;
};

/**
 * Whether the second of two visitor ids counts. If both changed in the same tenth of a second, the later id counts, so that a log-out is
 * not undone. All tabs decide alike. If both are first ids, the first source counts.
 */
const isSecond = (first: Visitor, second: Visitor): boolean =>
  (second.turn - first.turn ||
    (second.since ?? 0) - (first.since ?? 0) ||
    (first.since && second.thread > first.thread ? 1 : 0)) > 0;

/** The visitor that two sources know. If their ids differ, the later id counts. */
export const merge = (first: Visitor | undefined, second: Visitor): Visitor => {
  if (!first) return second;
  const pages = Math.max(first.pages, second.pages);
  const isSame = first.thread === second.thread;
  if (isSame) {
    const turn = Math.max(first.turn, second.turn);
    return { ...first, turn, since: first.since ?? second.since, keys: mergeKeys(first.keys, second.keys), pages };
  }
  return { ...(isSecond(first, second) ? second : first), pages };
};

/** The visitor after another tab has reported one. If the ids are equal, that tab knows the latest change. */
export const learn = (visitor: Visitor, other: Visitor): Visitor =>
  other.thread === visitor.thread ? merge(other, visitor) : merge(visitor, other);
