import type { Journal, OtherJournal } from '../outbox/journal.js';
import type { Entry, ReadRows, Store } from '../outbox/store.js';
import { type ItemText, idOf } from '../recorder/event.js';
import type { SharedVisitor } from './cookieDomain.js';
import { AT_ONCE, decide, inOrder, type Stored, type Taken } from './decide.js';
import { eventsIn, type Finished, finish, type Held, isChange } from './held.js';
import { isErased, rawHint, readHint, writeHint } from './hint.js';
import { merge, newVisitor, type Visitor, visitorIn } from './record.js';

/** Nothing is written or sent: consent has not been given, or the page is prerendering. */
const WAITING = 0;
/** The database is asked who the visitor is, or a change is on its way there. Calls wait meanwhile, in the journal too. */
const ASKING = 1;
const OPEN = 2;
/** The page has unloaded, or is in the back/forward cache. */
const AWAY = 3;
const REFUSED = 4;

/** A moment of the page's life. Awaited work compares it by identity with the moment at which it began. */
interface Life {
  readonly at: typeof WAITING | typeof ASKING | typeof OPEN | typeof AWAY | typeof REFUSED;
  /** The database has been asked since the page loaded or came back. */
  readonly isSure?: boolean;
  /** There was a hint when the page went away, and is none now: the visitor may have refused meanwhile. */
  readonly isMissing?: boolean;
}

/** What this page knows of the visitor. */
interface Who {
  readonly visitor: Visitor;
  /** The database has said so, or this page has changed what the database had said. */
  readonly isOwn?: boolean;
  /** The same visitor, as long as the database may not have it. */
  readonly unsaved?: Held | undefined;
  readonly taken?: Taken | undefined;
  /** The number of this page load; 0 while the database has not assigned it. */
  readonly number: number;
}

/** Name of the record in the store. */
export const VISITOR = 'visitor';

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

const REFUSAL = 'clew: correlationValue: the visitor has refused';

/** Who the visitor is. Calls wait until that is known, and change it in order. */
export const createVisitor = (ports: VisitorPorts) => {
  const { service, page, store, journal, elsewhere } = ports;
  let life: Life = { at: WAITING };
  /** Undefined before the page may know the visitor, and after a refusal. */
  let who: Who | undefined;
  /** Calls that wait for the visitor. */
  let held: Held[] = [];
  /** How many calls have had to wait. */
  let count = 0;
  const waiters: (readonly [resolve: (visitorId: string) => void, reject: (cause: Error) => void])[] = [];
  /** The last transaction, until it is done. */
  let asking: Promise<void> | undefined;
  /** The hint in localStorage as this page last saw it. */
  let seen: string | undefined;

  const is = (at: Life['at']) => life.at === at;
  /** As text: the primary key, its signature, and whether its `$identify` may be missing. */
  const identity = (of: Visitor | undefined) => `${of?.keys[service] ?? ''}`;
  const isSame = (one: Visitor, other: Visitor | undefined) =>
    one.thread === other?.thread && identity(one) === identity(other);
  const write = () => journal.write(who?.unsaved ? [who.unsaved, ...held] : held, is(AWAY));
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
  const know = (known: Who) => {
    who = known;
    hint(known.visitor);
    elsewhere?.tell(known.visitor, ports.fail);
    ports.onVisitor(known.visitor);
  };

  const answerWaiters = () => {
    for (const [resolve] of waiters.splice(0)) resolve((who as Who).visitor.thread);
  };

  /** Finishes calls that wait, a few at a time: the page's own work goes on. */
  const pump = () => {
    if (!is(OPEN)) return;
    ports.take(finish((who as Who).visitor, held.splice(0, AT_ONCE), service)[1]);
    if (held[0]) return void setTimeout(pump);
    answerWaiters();
    write();
  };

  /** Asks the database who the visitor is, and stores what they become by the calls that wait. */
  const ask = () => {
    const mine: Life = { ...life, at: ASKING };
    const before = who as Who;
    life = mine;
    held.push(numbered({ visitor: before.visitor }));
    const since = Date.now();
    const linked = before.number ? '' : ports.arrive();
    let after: Who | undefined;
    let others: readonly OtherJournal[] = [];
    let rows: Rows | undefined;
    const meet = (visitor: Visitor) => {
      const met = elsewhere?.meet(visitor, service) ?? visitor;
      return linked ? linked(met) : met;
    };
    const change = (stored: unknown, isShut = false): Stored | undefined => {
      const kept = visitorIn(stored);
      // A database that has failed is asked again.
      if (after) return { ...merge(after.visitor, kept ?? after.visitor), taken: after.taken };
      if (life !== mine || !who) return undefined;
      if (mine.isMissing && !kept) return ports.onMissed() as undefined;
      // Without a database nobody knows whether an open page has finished its calls itself.
      others = journal.others(since).filter(({ isLeft }) => isLeft || !isShut);
      const settled = ports.settled(!mine.isSure);
      const question = { service, page, stored, mine: who.visitor, number: who.number, held, others, settled, meet };
      const { rest, items, lent, adopted, ...next } = decide(question);
      const { visitor, taken } = next;
      const isChanged = !isSame(visitor, kept);
      const isNew = isChanged && (kept || !isSame(visitor, who.visitor));
      held = rest;
      life = { at: OPEN, isSure: true };
      after = { ...next, isOwn: true, unsaved: isChanged ? numbered({ visitor }) : who.unsaved };
      know(after);
      ports.adopt(adopted);
      ports.lend(lent);
      for (const [item, isOwn] of items) ports.take([item], !isOwn);
      if (isNew) ports.onChange(visitor);
      // In the same task, before the queue stores them by themselves: the record and its `$identify` are stored together.
      rows = ports.rows();
      write();
      return { ...visitor, taken };
    };
    const asked = store
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
        if (asking === asked) asking = undefined;
        // Where nothing can be stored, what this page knows has to do.
        if (!after) change(undefined, true);
        rows?.settle(!!isDone);
        if (!after) return;
        if (isDone && who && who.unsaved === after.unsaved) who = { ...who, unsaved: undefined };
        for (const other of others) other.remove();
        pump();
        write();
        if (!mine.isSure) ports.onLoad();
      });
    asking = asked;
  };

  /** Another tab or another host may know a later visitor. */
  const follow = (visitor: Visitor) => {
    if (!who || isSame(visitor, who.visitor)) return;
    who = { ...who, visitor, isOwn: false };
    if (is(OPEN)) ask();
  };

  /** Another tab may have changed the visitor. The hint shows it at once, also where there is no channel. */
  const check = (isBack?: boolean) => {
    if (!who || is(AWAY)) return;
    const raw = rawHint();
    const known = raw === seen ? undefined : readHint(service);
    seen = raw;
    const merged = merge(who.visitor, known ?? who.visitor);
    follow((isBack && elsewhere?.meet(merged, service)) || merged);
  };

  const start = (isMissing = false) => {
    const known = readHint(service);
    seen = rawHint();
    const here = who ? merge(who.visitor, known ?? who.visitor) : (known ?? newVisitor());
    who = { ...who, visitor: elsewhere?.meet(here, service) ?? here, isOwn: false, number: 0 };
    if (!isMissing) hint(who.visitor);
    life = { at: ASKING, isMissing };
    ask();
  };

  /** What waits is finished as well as it can be. Returns whether the page may write. */
  const leave = (): boolean => {
    if (!who || (is(ASKING) && life.isMissing)) return false;
    check();
    const { isSure = false } = life;
    const before = who.visitor;
    // What pages have left that no other one has taken over yet may have changed the visitor.
    const all = isSure ? held : inOrder(held, journal.others(0), new Map(who.taken));
    // An upsert of another page does not hold up what this one hands over.
    const calls = all.filter((call) => isChange(call) || held.includes(call));
    const [visitor, finished] = finish(before, calls, service, isSure);
    const texts = new Set(held.map(({ text }) => text));
    const items = finished.filter(([text]) => texts.has(text));
    const isChanged = !isSame(visitor, before);
    life = { at: AWAY, isSure };
    if (isSure) {
      held = [];
      who = { ...who, visitor };
      // At the time of the change: another page may have calls from between the change and the departure.
      if (isChanged) know({ ...who, unsaved: numbered({ visitor }, calls.filter(isChange).at(-1)?.at) });
      answerWaiters();
    } else {
      if (isChanged) hint(visitor);
      // What is handed over now belongs to the id that the page trusts.
      const given = new Map(items.map(([text, known]) => [text, known?.correlationValue as string]));
      held = held.map((call) => (call.fresh ? { ...call, given: given.get(call.text as string) ?? call.given } : call));
    }
    ports.take(items);
    // What a page that is not sure has made of other pages' calls is in the hint, as a mark that proves nothing.
    if (isChanged && isSure) ports.onChange(visitor);
    return true;
  };

  return {
    /** Consent is given, and the page is visible. */
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
      if (!held[1]) pump();
      if (who && is(ASKING) && isChange(added)) hint(finish(who.visitor, held, service, life.isSure)[0]);
    },
    /** Writes what waits for the database into the journal. */
    write() {
      if (is(ASKING)) write();
    },
    /** How many calls wait, without the one that says with whom the page begins. */
    size: () => held.length - (is(ASKING) ? 1 : 0),
    check,
    /** What another tab reports. */
    receive(other: Visitor) {
      if (who && !is(AWAY)) follow(merge(who.visitor, visitorIn(other) ?? who.visitor));
    },
    leave,
    /** After what was handed over: writes what the database has not confirmed. */
    carry() {
      const unsaved = who?.unsaved;
      // Unread, and therefore only if no other tab has changed it since this page read it.
      if (who && unsaved && who.isOwn) {
        const { visitor, taken } = who;
        const pages = Math.max(visitor.pages, readHint(service)?.pages ?? 0);
        ports.persist([VISITOR, { ...visitor, pages, taken }])?.then((isStored) => {
          if (!isStored || who?.unsaved !== unsaved) return;
          who = { ...who, unsaved: undefined };
          write();
        });
      }
      write();
    },
    /** The page is back from the back/forward cache. */
    restore() {
      if (!is(AWAY)) return;
      ports.untake(held.flatMap(({ text }) => (text ? idOf(text) : [])));
      start(isErased(seen));
    },
    /** The visitor refuses. */
    refuse() {
      const texts = eventsIn(held);
      life = { at: REFUSED };
      held = [];
      who = seen = undefined;
      write();
      ports.onRefused(texts);
      for (const [, reject] of waiters.splice(0)) reject(new Error(REFUSAL));
    },
    /** These items were delivered or dropped: the next page need not finish them. */
    settle(ids: ReadonlySet<string>) {
      if (!held[0]) return;
      held = held.flatMap((call) =>
        !call.text || !ids.has(idOf(call.text)) ? call : call.fresh ? { ...call, text: undefined } : [],
      );
      if (is(AWAY)) write();
    },
    /** Resolves to the visitor id once it is known. */
    visitorId: () =>
      new Promise<string>((resolve, reject) => {
        check();
        waiters.push([resolve, reject]);
        if (is(REFUSED)) waiters.pop()?.[1](new Error(REFUSAL));
        else if (is(AWAY) && life.isSure) answerWaiters();
        else if (!held[0]) pump();
      }),
    /** The visitor, for other hosts and other tabs; undefined before the database has said it. */
    known: () => (who?.number ? who.visitor : undefined),
    pages: () => who?.number ?? 0,
    isAway: () => is(AWAY),
    /** Whether the page may write. */
    isStarted: () => !is(WAITING) && !is(REFUSED),
    /** Resolves once the last transaction is done. */
    asked: async () => asking,
    /** Whether a transaction is under way that others wait behind. */
    isBusy: () => !!asking,
  };
};
