import type { Journal, OtherJournal } from '../outbox/journal.js';
import type { Entry, ReadRows, Store } from '../outbox/store.js';
import { type ItemText, idOf } from '../recorder/event.js';
import type { SharedVisitor } from './cookieDomain.js';
import { type Finished, finish, type Held } from './held.js';
import { isErased, rawHint, readHint, writeHint } from './hint.js';
import { merge, newVisitor, type Visitor, visitorIn } from './record.js';

/** Nothing is written or sent: consent has not been given, or the page has not been seen. */
const WAITING = 0;
/** The database is asked who the visitor is, or told of a change. Calls wait meanwhile, in the journal too. */
const ASKING = 1;
const OPEN = 2;
/** The page is going away, or is in the back/forward cache. */
const AWAY = 3;
const REFUSED = 4;

/** A moment of the page's life. Awaited work compares it by identity with the one in which it began. */
interface Life {
  readonly at: typeof WAITING | typeof ASKING | typeof OPEN | typeof AWAY | typeof REFUSED;
  /** The database has been asked since the page loaded or came back. */
  readonly isSure: boolean;
}

/** The record in the store: the visitor, and up to which call the journals of other pages have been taken in. */
type Stored = Visitor & { readonly taken?: readonly (readonly [page: string, index: number])[] | undefined };

/** Name of the record in the store. */
export const VISITOR = 'visitor';
/** The journals of so many pages are remembered as taken in. */
const MOST_TAKEN = 30;
/** So many calls that waited are finished in one task. */
const AT_ONCE = 200;

/** Rows to store with the record, and what to do when that is done. */
export interface Rows {
  readonly entries: readonly Entry[];
  settle(isStored: boolean): void;
}

export interface VisitorPorts {
  readonly service: string;
  /** Name of this page, and of its journal. */
  readonly page: string;
  readonly store: Store;
  readonly journal: Journal;
  readonly elsewhere: SharedVisitor | undefined;
  /** Takes what a link says of the visitor out of the page's address. */
  arrive(): ((visitor: Visitor) => Visitor) | undefined | '';
  /** Takes finished items of this page, or of pages that have left them. */
  take(items: readonly Finished[], isAdopted?: boolean): void;
  /** Takes finished items that pages have left. */
  adopt(texts: readonly ItemText[]): void;
  /** Another page has stored these events, because it has found them in this page's journal. */
  lend(items: readonly Finished[]): void;
  /** Forgets items that were handed over by a page that was not sure of the visitor, and now is to be. */
  untake(ids: readonly string[]): void;
  /** Ids of earlier pages' events that need not be sent any more. At the page's start, the courier takes them over. */
  settled(isStart: boolean): ReadonlySet<unknown>;
  /** What is to be stored. */
  rows(): Rows;
  /** Counts the stored events, inside a transaction. */
  measure(read: ReadRows): Promise<void>;
  /** Stores a record at once, in a page that leaves. */
  persist(entry: Entry): Promise<boolean> | undefined;
  /** The visitor is known, or is another one. */
  onVisitor(visitor: Visitor): void;
  /** The database has said who the visitor is. */
  onLoad(): void;
  /** To be told to the other tabs. */
  onChange(visitor: Visitor): void;
  /** These events are dropped, because the visitor has refused. */
  onRefused(texts: readonly ItemText[]): void;
  /** A refusal was given while the page was in the back/forward cache. */
  onMissed(): void;
  fail(message: string): void;
}

/** Any code of the origin may have written into the record. */
const takenIn = (stored: unknown): [page: string, index: number][] => {
  const { taken } = Object(stored) as Stored;
  return (Array.isArray(taken) ? taken : []).filter(Array.isArray) as [string, number][];
};

/** Events that wait. What belongs to a change of the visitor does not count. */
const eventsIn = (calls: readonly Pick<Held, 'text' | 'fresh'>[]) =>
  calls.flatMap(({ text, fresh }) => (text && !fresh ? text : []));
const isChange = ({ fresh, dropped, visitor }: Pick<Held, 'fresh' | 'dropped' | 'visitor'>) =>
  !!(fresh || dropped || visitor);

/**
 * The calls of a page and of those whose journals are there, in the order of time. Of the same moment, what comes from a page
 * that has gone was first, and what comes from one that is open was last.
 */
const inOrder = (own: readonly Held[], others: readonly OtherJournal[], taken: ReadonlyMap<string, number>): Held[] => {
  const theirs = (isLeft: boolean) =>
    others.flatMap((other) =>
      !!other.isLeft === isLeft ? other.held.filter(({ index }) => index > (taken.get(other.page) ?? 0)) : [],
    );
  return [...theirs(true), ...own, ...theirs(false)].sort((one, other) => one.at - other.at);
};

/** Who the visitor is. Calls wait until that is known, and change it in order. */
export const createVisitor = (ports: VisitorPorts) => {
  const { service, page, store, journal, elsewhere } = ports;
  let life: Life = { at: WAITING, isSure: false };
  /** As far as this page knows; undefined before it may know, and after a refusal. */
  let visitor: Visitor | undefined;
  /** The same, as long as it is what the database has said and what this page has made of it. */
  let own: Visitor | undefined;
  /** The same, as long as the database may not have it. */
  let unsaved: Held | undefined;
  let taken: Stored['taken'];
  /** The number of this page load; 0 while the database has not said it. */
  let number = 0;
  /** Calls that wait for the visitor. */
  let held: Held[] = [];
  /** How many of them are events or upserts. */
  let waiting = 0;
  let count = 0;
  const waiters: (readonly [resolve: (thread: string) => void, reject: (cause: Error) => void])[] = [];
  let asked: Promise<unknown> = Promise.resolve();
  /** How many transactions of `asked` are under way. */
  let pending = 0;
  /** The hint in localStorage as this page last saw it. */
  let seen: string | undefined;
  /** There was a hint when the page went away, and is none now: perhaps the visitor has refused meanwhile. */
  let isMissing = false;

  const is = (at: Life['at']) => life.at === at;
  /** As text: the primary key, its signature, and whether its `$identify` may be missing. */
  const identity = (of: Visitor | undefined) => `${of?.keys[service] ?? ''}`;
  const isSame = (one: Visitor, other: Visitor | undefined) =>
    one.thread === other?.thread && identity(one) === identity(other);
  const write = () => journal.write(unsaved ? [unsaved, ...held] : held, is(AWAY));
  /** A call in its place. */
  const numbered = (call: Omit<Held, 'index' | 'at'>, at: number = Date.now()): Held => ({
    ...call,
    index: ++count,
    at,
  });
  const hint = (to: Visitor) => {
    writeHint(to, service);
    seen = rawHint();
  };

  /** From now on the visitor is known, also to a page that has no time to ask the database. */
  const know = (known: Visitor) => {
    visitor = known;
    hint(known);
    elsewhere?.tell(known, ports.fail);
    ports.onVisitor(known);
  };

  const tell = () => {
    for (const [resolve] of waiters.splice(0)) resolve((visitor as Visitor).thread);
  };

  /** Finishes calls that wait, a few at a time: the page's own work goes on. */
  const pump = () => {
    if (!is(OPEN)) return;
    const due = held.splice(0, AT_ONCE);
    waiting -= eventsIn(due).length;
    ports.take(finish(visitor as Visitor, due, service)[1]);
    if (held[0]) return void setTimeout(pump);
    tell();
    write();
  };

  /** What the database's record becomes by this page, within the transaction that has read it. Returns the journals taken in. */
  const decide = (
    stored: unknown,
    isShut: boolean,
    isStart: boolean,
    since: number,
    linked: ReturnType<VisitorPorts['arrive']>,
  ) => {
    const kept = visitorIn(stored);
    const done = new Map(takenIn(stored));
    // Without a database nobody can tell whether an open page has finished its calls itself.
    const others = journal.others(since).filter(({ isLeft }) => isLeft || !isShut);
    const settled = ports.settled(isStart);
    const mine = visitor as Visitor;
    const lent = held.filter(({ index }) => index <= (done.get(page) ?? 0));
    held.splice(0, lent.length);
    // Up to the last change. What only waits for the visitor may wait a little longer, if it is much.
    const mineNow = held.splice(0, Math.max(held.map(isChange).lastIndexOf(true) + 1, AT_ONCE));
    waiting = eventsIn(held).length;
    const calls = inOrder(mineNow, others, done).filter(({ text }) => !(text && settled.has(idOf(text))));
    for (const other of others)
      if (other.held[0] && other.page) done.set(other.page, other.held.at(-1)?.index as number);
    // Without a record, the first page that was there counts.
    const from = kept ?? calls.find((call) => call.visitor)?.visitor ?? mine;
    number ||= Math.max(from.pages, mine.pages) + 1;
    // Other hosts and links know the visitor with whom this page began.
    const begin = Math.max(0, calls.indexOf(mineNow.find((call) => call.visitor) as Held));
    const [before, earlier] = finish(from, calls.slice(0, begin), service);
    const met = elsewhere?.meet(before, service) ?? before;
    const [last, later] = finish(linked ? linked(met) : met, calls.slice(begin), service);
    const after = { ...last, pages: Math.max(last.pages, number) };
    const items = [...earlier, ...later];
    const texts = others.flatMap((other) => other.texts.filter((text) => !settled.has(idOf(text))));
    life = { at: OPEN, isSure: true };
    taken = [...done].slice(-MOST_TAKEN);
    own = after;
    if (!isSame(after, kept)) unsaved = numbered({ visitor: after });
    know(after);
    ports.adopt(texts);
    const ids = new Set(mineNow.map(({ text }) => text));
    ports.lend(
      finish(
        after,
        lent.filter((call) => !isChange(call)),
        service,
      )[1],
    );
    for (const item of items) ports.take([item], !ids.has(item[0]));
    if (!isSame(after, kept ?? mine)) ports.onChange(after);
    return others;
  };

  /** Asks the database who the visitor is, and tells it what they become by the calls that wait. */
  const ask = () => {
    const mine: Life = { at: ASKING, isSure: life.isSure };
    life = mine;
    held.push(numbered({ visitor }));
    const since = Date.now();
    const linked = number ? '' : ports.arrive();
    let others: ReturnType<typeof decide> | undefined;
    let rows: Rows | undefined;
    const change = (stored: unknown, isShut = false): Stored | undefined => {
      // A database that fails is asked once more.
      if (others) return { ...merge(own, visitorIn(stored) ?? (own as Visitor)), taken };
      if (life !== mine) return;
      if (isMissing && !visitorIn(stored)) return ports.onMissed() as undefined;
      others = decide(stored, isShut, !mine.isSure, since, linked);
      // In the same task, before the queue stores them by themselves: the record and its `$identify` are stored together.
      rows = ports.rows();
      write();
      return { ...(own as Visitor), taken };
    };
    pending++;
    asked = store
      .transact(
        () => rows?.entries ?? [],
        VISITOR,
        async (stored: Stored | undefined, read) => {
          // What has no room any more is known before the journals of other pages are taken in.
          if (!mine.isSure) await ports.measure(read);
          return change(stored) as Stored;
        },
      )
      .then((isDone) => {
        const decided = unsaved;
        pending--;
        // Where nothing can be stored, what this page knows has to do.
        if (!others) change(undefined, true);
        rows?.settle(!!isDone);
        if (!others) return;
        if (isDone && unsaved === decided) unsaved = undefined;
        for (const other of others) other.remove();
        pump();
        write();
        if (!mine.isSure) ports.onLoad();
      });
  };

  /** Another tab may have made the visitor another one. The hint says so at once, also where there is no channel. */
  const check = (isBack?: boolean) => {
    if (!visitor || is(AWAY)) return;
    const raw = rawHint();
    const known = raw === seen ? undefined : readHint(service);
    seen = raw;
    const merged = known ? merge(visitor, known) : visitor;
    const met = (isBack && elsewhere?.meet(merged, service)) || merged;
    if (isSame(met, visitor)) return;
    visitor = met;
    if (is(OPEN)) ask();
  };

  const start = () => {
    const known = readHint(service);
    seen = rawHint();
    const here = visitor ? merge(visitor, known ?? visitor) : (known ?? newVisitor());
    visitor = elsewhere?.meet(here, service) ?? here;
    if (!isMissing) hint(visitor);
    life = { at: ASKING, isSure: false };
    ask();
  };

  /** What waits is finished as well as it can be. Returns whether the page may write. */
  const leave = (): boolean => {
    if (!visitor || (is(ASKING) && isMissing)) return false;
    check();
    const before = visitor;
    // What pages have left that no other one has taken in yet may have changed the visitor.
    const calls = life.isSure ? held : inOrder(held, journal.others(0), new Map(taken));
    const [next, finished] = finish(before, calls, service, life.isSure);
    const texts = new Set(held.map(({ text }) => text));
    const items = finished.filter(([text]) => texts.has(text));
    const isOwn = before === own;
    const isChanged = !isSame(next, before);
    life = { at: AWAY, isSure: life.isSure };
    if (life.isSure) {
      held = [];
      waiting = 0;
      if (isChanged) {
        unsaved = numbered({ visitor: next });
        own = isOwn ? next : undefined;
        know(next);
      }
      visitor = next;
      tell();
    } else {
      if (isChanged) hint(next);
      // What is handed over now belongs to the id that the page believes in.
      const given = new Map(items.map(([text, known]) => [text, known?.correlationValue as string]));
      held = held.map((call) => (call.fresh ? { ...call, given: given.get(call.text as string) ?? call.given } : call));
    }
    ports.take(items);
    if (isChanged) ports.onChange(next);
    return true;
  };

  return {
    /** Consent is given, and the page is seen. */
    grant() {
      if (is(WAITING) || is(REFUSED)) start();
    },
    /** A call that needs the visitor, and when it was made: the script tag replays earlier ones. */
    enter(call: Omit<Held, 'index' | 'at'>, at: number) {
      if (is(REFUSED)) return ports.onRefused(eventsIn([call]));
      if (isChange(call)) check();
      if (is(OPEN) && isChange(call)) ask();
      const last = held.at(-1);
      // In order, even if the clock is set back. With whom the page begins is known before the calls that the stub has kept.
      if (last?.visitor) held.splice(-1, 1, { ...last, at: Math.min(last.at, at) });
      const added = numbered(call, Math.max(at, held.at(-1)?.at ?? 0));
      held.push(added);
      waiting += eventsIn([added]).length;
      if (!held[1]) pump();
      if (is(ASKING) && isChange(added)) hint(finish(visitor as Visitor, held, service, life.isSure)[0]);
    },
    /** Writes what waits for the database into the journal. */
    write() {
      if (is(ASKING)) write();
    },
    /** How many events and upserts wait. */
    size: () => waiting,
    check,
    /** What another tab says. */
    hear(other: Visitor) {
      if (!visitor || is(AWAY)) return;
      const merged = merge(visitor, visitorIn(other) ?? visitor);
      if (isSame(merged, visitor)) return;
      visitor = merged;
      if (is(OPEN)) ask();
    },
    leave,
    /** After what was handed over: writes what the database has not confirmed. */
    carry() {
      const mine = unsaved;
      const changed = mine?.visitor;
      // Unread, and therefore only if no other tab has changed it since this page read it.
      const pages = Math.max(changed?.pages ?? 0, readHint(service)?.pages ?? 0);
      if (changed && changed === own)
        ports.persist([VISITOR, { ...changed, pages, taken }])?.then((isStored) => {
          if (!isStored || unsaved !== mine) return;
          unsaved = undefined;
          write();
        });
      write();
    },
    /** The page is back from the back/forward cache. */
    restore() {
      if (!is(AWAY)) return;
      isMissing = isErased(seen);
      number = 0;
      ports.untake(held.flatMap(({ text }) => (text ? idOf(text) : [])));
      start();
    },
    /** The visitor refuses. */
    refuse() {
      const texts = eventsIn(held.splice(0));
      waiting = 0;
      life = { at: REFUSED, isSure: false };
      visitor = own = unsaved = taken = seen = undefined;
      number = 0;
      isMissing = false;
      write();
      ports.onRefused(texts);
      for (const [, reject] of waiters.splice(0)) reject(new Error('clew: correlationValue: the visitor has refused'));
    },
    /** These items were delivered or dropped: the next page need not finish them. */
    settle(ids: ReadonlySet<string>) {
      if (!held[0]) return;
      held = held.flatMap((call) =>
        !call.text || !ids.has(idOf(call.text)) ? call : call.fresh ? { ...call, text: undefined } : [],
      );
      waiting = eventsIn(held).length;
      if (is(AWAY)) write();
    },
    /** Resolves to the visitor id once it is known. */
    thread: () =>
      new Promise<string>((resolve, reject) => {
        waiters.push([resolve, reject]);
        if (is(REFUSED)) waiters.pop()?.[1](new Error('clew: correlationValue: the visitor has refused'));
        else if (is(AWAY) && life.isSure) tell();
        else if (!held[0]) pump();
      }),
    /** The visitor, for other hosts and other tabs; nobody before the database has said it. */
    known: () => (number ? visitor : undefined),
    pages: () => number,
    isAway: () => is(AWAY),
    /** Whether the page may write. */
    isStarted: () => !is(WAITING) && !is(REFUSED),
    asked: () => asked,
    /** Whether a transaction is under way that others wait behind. */
    isBusy: () => pending > 0,
  };
};
