import type { Journal, OtherJournal } from '../outbox/journal.js';
import type { Entry, Row, RowQuery, Store } from '../outbox/store.js';
import { type ItemText, idOf, stamp, timeOf } from '../recorder/event.js';
import { type Call, complete, eventsIn, type Finished, finish, isChange } from './calls.js';
import type { SharedVisitor } from './cookieDomain.js';
import { createHint } from './hint.js';
import { detachLate } from './late.js';
import { learn, markOf, merge, newVisitor, type Visitor, visitorIn } from './record.js';

/** Nothing is written or sent: consent has not been given, or the page is prerendering. */
const WAITING = 0;
/** The database is asked who the visitor is. Calls wait meanwhile, in the journal too. */
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
  /** The tracker was stopped: no consent begins another life. */
  readonly isStopped?: boolean | undefined;
}

/** What this page knows of the visitor. */
interface Who {
  /** Before the calls that wait. */
  readonly begin: Visitor;
  /** After the calls that wait. */
  readonly visitor: Visitor;
  /** Without the calls of this page. */
  readonly met: Visitor;
  /** For calls that came late, because they are older than a change by another page. */
  readonly past?: Visitor | undefined;
  /** What the database has, or another tab writes there. */
  readonly stored?: Visitor | undefined;
  /** The hint in localStorage as this page last saw it. */
  readonly seen?: string | undefined;
  /** The number of this page load; 0 while the database has not assigned it. */
  readonly number: number;
  /** Names of journals that have been taken in, as this page last wrote them. */
  readonly taken?: readonly string[];
}

/** Name of the record in the store. */
export const VISITOR = 'visitor';
/** So many calls are finished in one task. */
const AT_ONCE = 200;
/** So many names of journals are remembered that have been taken in, the latest. */
const MOST_TAKEN = 30;
/** More calls that wait are not journaled until the page leaves: it would take too long. */
const MOST_JOURNALED = 1e3;

/** The record in the store. The names are there in case the browser crashes before their deletion from localStorage lasts. */
type Stored = Visitor & { readonly taken?: readonly string[] };

/** Names of journals that have been taken in. Any code of the origin may have written the record. */
const takenIn = (stored: unknown): string[] => {
  const { taken } = Object(stored) as Stored;
  return Array.isArray(taken) ? taken.filter((name) => typeof name === 'string') : [];
};

/** Rows to store with the record, and what to do when that is done. */
export interface Rows {
  readonly entries: readonly Entry[];
  settle(isStored: boolean): void;
}

export interface VisitorPorts {
  readonly service: string;
  readonly store: Store;
  readonly journal: Journal;
  readonly elsewhere: SharedVisitor | undefined;
  /** Takes what a link says of the visitor out of the page's address. */
  arrive(): ((visitor: Visitor) => Visitor) | undefined | '';
  /**
   * Takes complete items that pages have left, one that is '' had no customer, and then finished items of this page, which another
   * page may have taken in already.
   */
  take(items: readonly Finished[], isAdopted?: boolean, left?: readonly ItemText[]): void;
  /** Ids of earlier pages' events that need not be sent any more. At the page's start, the courier takes them over. */
  settled(isStart: boolean): ReadonlySet<unknown>;
  /** What is to be stored. */
  rows(): Rows;
  /** Journals items that are not stored yet. */
  keep(): void;
  /** The rows that `measure` needs. */
  query(): RowQuery;
  /** Counts the stored events. Returns the ids of those that may be in a journal, too. */
  measure(rows: readonly Row[]): ReadonlySet<string>;
  /** The visitor is known, or is another one. */
  onVisitor(visitor: Visitor): void;
  /** The database has answered. */
  onLoad(): void;
  /** For the other tabs. */
  onChange(visitor: Visitor): void;
  /** These events are dropped, because the visitor has refused. */
  onRefused(texts: readonly ItemText[]): void;
  /** A refusal was given while the page was in the back/forward cache. */
  onMissed(): void;
  fail(message: string): void;
}

/** Who the visitor is. Calls wait until that is known, and change it in order. */
export const createVisitor = (ports: VisitorPorts) => {
  const { service, store, journal, elsewhere } = ports;
  const [readHint, writeHint, rawHint, isErased] = createHint(service, store.local);
  let life: Life = { at: WAITING };
  /** Undefined before the page may know the visitor, and after a refusal. */
  let who: Who | undefined;
  /** Calls that wait for the visitor. */
  let held: Call[] = [];
  /** The last transaction, until it is done. */
  let asking: Promise<void> | undefined;
  const waiters: (readonly [resolve: (visitorId: string) => void, reject: (cause: Error) => void])[] = [];

  const is = (at: Life['at']) => life.at === at;
  /** The primary key, or its mark if this page does not know the key. */
  const keyOf = (of: Visitor | undefined) => of?.keys[service]?.[0];
  const isSame = (one: Visitor, other: Visitor | undefined) =>
    one.thread === other?.thread && `${one.keys[service] ?? ''}` === `${other.keys[service] ?? ''}`;

  /** Journals what the database may not have. */
  const write = () => {
    if (!who) return journal.write({});
    const { begin, visitor, stored } = who;
    const texts = finish(begin, held, service)[1].map(([draft, known]) => (known ? stamp(draft, known) : draft));
    journal.write({ visitor: visitor === stored ? undefined : visitor, texts, isLeft: is(AWAY) });
  };

  /** Journals the calls that wait for the database. */
  const writeHeld = () => {
    if (is(ASKING) && held.length < MOST_JOURNALED) write();
  };

  /** Writes the hint, so that also a page that has no time to ask the database knows the visitor. */
  const hint = (known: Who) => {
    const isSeen = rawHint() === known.seen;
    writeHint(known.visitor);
    // What another tab has written meanwhile is still to be noticed.
    who = isSeen ? { ...known, seen: rawHint() } : known;
  };

  /** From now on the visitor is known. */
  const know = (known: Who) => {
    hint(known);
    elsewhere?.share(known.visitor, ports.fail);
    ports.onVisitor(known.visitor);
  };

  /** Gives the visitor id to those who wait for it, once it is certain or there will be none. */
  const give = () => {
    const end = is(REFUSED) ? 'the visitor has refused' : !who && life.isStopped && 'the tracker was stopped';
    if (end) for (const [, reject] of waiters.splice(0)) reject(new Error(`clew: correlationValue: ${end}`));
    else if (who && !held[0] && (life.isSure || life.isStopped) && !is(ASKING))
      for (const [resolve] of waiters.splice(0)) resolve(who.begin.thread);
  };

  /** Finishes calls that wait, a few at a time: the page's own work goes on. */
  const pump = (most = AT_ONCE) => {
    if (!who || !(is(OPEN) || is(AWAY))) return;
    const isBacklog = !!held[1];
    const [begin, items, count] = finish(who.begin, held.slice(0, most), service, life.isSure);
    held.splice(0, count);
    who = { ...who, begin };
    ports.take(items);
    if (held[0]) {
      if (is(OPEN)) setTimeout(pump);
      return;
    }
    give();
    if (isBacklog) write();
  };
  const pumpAll = () => pump(Number.POSITIVE_INFINITY);

  /** Merges the visitor into the stored record. The rows of the moment are stored with it. */
  const save = () => {
    ports.keep();
    const { entries, settle } = ports.rows();
    const mine = (who as Who).visitor;
    const change = (stored: unknown): Stored => ({ ...merge(mine, visitorIn(stored) ?? mine), taken: takenIn(stored) });
    const saving = store.transact<Stored>(entries, VISITOR, change).then((merged) => {
      if (asking === saving) asking = undefined;
      settle(!!merged);
      if (!merged || !who) return;
      if (who.visitor === mine) who = { ...who, stored: mine };
      write();
      // Where nothing can be written into localStorage, another tab may have changed the visitor unnoticed.
      follow(merge(who.visitor, merged));
    });
    asking = saving;
    write();
  };

  /** The truth about calls that were made with the visitor of the hint. */
  const decide = (mine: Who, base: Visitor | undefined, meet: (visitor: Visitor) => Visitor): [Who, Finished[]] => {
    const { begin, visitor } = mine;
    const known = [visitor.thread, readHint()?.thread, ...held.map(({ fresh }) => fresh)];
    // After a crash of the browser, the hint may be out of date. If it is not, a later visitor has come of it meanwhile.
    const isLater = base && base.turn > begin.turn && !known.includes(base.thread);
    const isStale = base && base.thread !== begin.thread && (isLater || base.turn === begin.turn);
    const met = meet(isStale ? base : base?.thread === begin.thread ? merge(begin, base) : begin);
    const [calls, past] = detachLate(held, met, mine.past, service);
    const end = Math.max(calls.map(isChange).lastIndexOf(true) + 1, AT_ONCE);
    const [after, items] = finish(met, calls.slice(0, end), service);
    held = calls.slice(end);
    const isOther = after.thread !== visitor.thread;
    const last = isStale
      ? { ...after, turn: Math.max(after.turn, visitor.turn + (isOther ? 1 : 0)) }
      : merge(merge(after, visitor), base ?? visitor);
    const number = mine.number || Math.max(last.pages, base?.pages ?? 0) + 1;
    const next = { ...last, pages: Math.max(last.pages, base?.pages ?? 0, number) };
    return [{ begin: next, visitor: next, met, past, seen: mine.seen, number }, items];
  };

  /** Asks the database who the visitor is. */
  const ask = () => {
    const mine: Life = { ...life, at: ASKING };
    life = mine;
    const since = Date.now();
    const linked = who?.number ? '' : ports.arrive();
    let after: Visitor | undefined;
    let others: readonly OtherJournal[] = [];
    let rows: Rows | undefined;
    const meet = (visitor: Visitor) => {
      const met = elsewhere?.meet(visitor, service) ?? visitor;
      return linked ? linked(met) : met;
    };
    const change = (stored: unknown, present?: ReadonlySet<string>, isShut = false): Stored | undefined => {
      const kept = visitorIn(stored);
      const taken = takenIn(stored);
      const record = (visitor: Visitor) => {
        const names = [...taken, ...others.flatMap(({ name }) => name || [])].slice(-MOST_TAKEN);
        if (who) who = { ...who, taken: names };
        return { ...visitor, taken: names };
      };
      // A database that has failed is asked again.
      if (after) return record(merge(after, kept ?? after));
      if (life !== mine || !who) return undefined;
      if (mine.isMissing && !kept) return ports.onMissed() as undefined;
      // Without a database nobody knows whether an open page has finished its calls itself.
      others = journal.others(since).filter(({ isLeft }) => isLeft || !isShut);
      const settled = ports.settled(!mine.isSure);
      let base = kept;
      const adopted: (readonly [at: number, text: ItemText])[] = [];
      for (const other of others.filter(({ name }) => !taken.includes(name))) {
        if (other.visitor) base = merge(base, other.visitor);
        let at = 0;
        for (const text of other.texts) {
          // In order, even if the clock was set back. An upsert has no time of its own.
          at = Math.max(at, timeOf(text) || 0);
          if (!settled.has(idOf(text)) && !present?.has(idOf(text)))
            adopted.push([at, complete(text, base ?? who.begin, service)]);
        }
      }
      adopted.sort(([one], [other]) => one - other);
      const before = who.visitor;
      const [next, items] = decide(who, base, meet);
      after = next.visitor;
      life = { at: OPEN, isSure: true };
      know(next);
      const left = adopted.map(([, text]) => text);
      ports.take(items, journal.isAmong(taken), left);
      if (!isSame(after, kept) && (kept || !isSame(after, before))) ports.onChange(after);
      // In the same task, before the queue stores them by themselves: the record and its `$identify` are stored together.
      // Until the transaction is done, the journals have them: this page's calls, and what other pages have left.
      rows = ports.rows();
      return record(after);
    };
    const asked = store
      .transact<Stored>(
        () => rows?.entries ?? [],
        VISITOR,
        // What has no room any more is known before the journals of other pages are taken in.
        (stored, found) => change(stored, mine.isSure ? undefined : ports.measure(found)),
        () => (mine.isSure ? undefined : ports.query()),
      )
      .then((isDone) => {
        if (asking === asked) asking = undefined;
        // Where nothing can be stored, what this page knows has to do.
        if (!after) change(undefined, undefined, true);
        rows?.settle(!!isDone);
        if (!after) return;
        ports.keep();
        if (isDone && who?.visitor === after) who = { ...who, stored: after };
        for (const other of others) other.remove();
        pump();
        write();
        if (!mine.isSure) ports.onLoad();
      });
    asking = asked;
  };

  /** Takes a call in its turn. */
  const hold = (made: Call) => {
    if (!who) return void held.push(made);
    const [[call], past] = detachLate([made], who.met, who.past, service);
    who = { ...who, met: made.visitor ?? who.met, past };
    if (!call) return;
    held.push(call);
    if (!isChange(call)) return held[1] ? undefined : pump();
    const [visitor] = finish(who.visitor, [call], service);
    // Another tab or another host has stored it.
    const stored = call.visitor ? visitor : who.stored;
    const isNew = visitor !== who.visitor;
    if (isNew) (life.isSure ? know : hint)({ ...who, visitor, stored });
    pumpAll();
    if (!isNew || call.visitor) return;
    if (life.isSure) ports.onChange(visitor);
    if (is(OPEN)) save();
  };

  /** Another tab or another host may know a later visitor. */
  const follow = (visitor: Visitor) => {
    if (!who || isSame(visitor, who.visitor)) return;
    hold({ visitor });
    // Only the database has the primary key.
    if (is(OPEN) && typeof keyOf(visitor) === 'number') ask();
  };

  /** Another tab or host may have changed the visitor. The hint and the cookie show it at once, also where there is no channel. */
  const check = () => {
    const seen = rawHint();
    // `enter` notices a refusal that a page missed while it was away.
    if (!who || (is(AWAY) && !seen)) return;
    const known = seen === who.seen ? undefined : readHint();
    who = { ...who, seen };
    const merged = merge(who.visitor, known ?? who.visitor);
    follow(elsewhere?.meet(merged, service) ?? merged);
  };

  const start = (isMissing = false) => {
    const known = readHint();
    const seen = rawHint();
    const here = who ? merge(who.visitor, known ?? who.visitor) : (known ?? newVisitor());
    const visitor = elsewhere?.meet(here, service) ?? here;
    if (who && held[0]) held.push({ visitor });
    const begin = (held[0] && who?.begin) || visitor;
    const [calls, past] = detachLate(held, visitor, who?.past, service);
    held = calls;
    who = { begin, visitor: finish(begin, held, service)[0], met: visitor, past, seen, number: 0 };
    if (!isMissing) hint(who);
    life = { at: ASKING, isMissing };
    ask();
    if (held[0]) writeHeld();
  };

  return {
    /** Consent is given, and the page is visible. */
    grant() {
      if (!life.isStopped && (is(WAITING) || is(REFUSED))) start();
    },
    /** A call that needs the visitor. */
    enter(call: Call) {
      // A tracker that was stopped receives no messages.
      if (is(AWAY) && isErased(who?.seen)) ports.onMissed();
      if (is(REFUSED)) return ports.onRefused(eventsIn([call]));
      if (isChange(call)) check();
      hold(call);
    },
    write: writeHeld,
    /** Whether the call starts another visitor id, as far as this page knows. One that comes late starts none for the page. */
    isOther(call: Call): boolean {
      const { fresh, key } = call;
      if (!fresh || (key && [undefined, key, markOf(key)].includes(keyOf(who?.visitor)))) return false;
      return !who || detachLate([call], who.met, who.past, service)[0][0] === call;
    },
    /** How many calls wait. */
    size: () => held.length,
    check,
    /** What another tab reports. */
    receive(message: Visitor) {
      const other = visitorIn(message);
      if (who && !is(AWAY) && other) follow(learn(who.visitor, other));
    },
    /** What waits is finished as well as it can be. Returns whether the page may write. */
    leave(): boolean {
      if (!who || (is(ASKING) && life.isMissing)) return false;
      check();
      life = { at: AWAY, isSure: !!life.isSure };
      pumpAll();
      return true;
    },
    /** The record that a page writes unread as it leaves, in case the browser crashes before the journal is on the disk. */
    unread(): Entry[] {
      const { visitor, stored, taken } = who as Who;
      const { pages = 0, keys = {} } = readHint() ?? {};
      const [key] = visitor.keys[service] ?? [];
      // It must not lack what another tab, or the tracker of another service, has written meanwhile. Other tabs report marks only.
      const isWhole = Object.entries(keys).every(([name, [mark]]) => name === service && markOf(`${key}`) === mark);
      if (!life.isSure || visitor === stored || !isWhole) return [];
      return [[VISITOR, { ...visitor, taken, pages: Math.max(visitor.pages, pages) }]];
    },
    /** After what was handed over: journals what the database has not confirmed. */
    carry: write,
    /** The page is back from the back/forward cache. */
    restore() {
      if (is(AWAY)) start(isErased(who?.seen));
    },
    /** The visitor refuses. */
    refuse() {
      const texts = eventsIn(held);
      life = { at: REFUSED, isStopped: life.isStopped };
      held = [];
      who = undefined;
      write();
      ports.onRefused(texts);
      give();
    },
    /** Nothing begins any more. */
    stop() {
      life = { ...life, isStopped: true };
      give();
    },
    /** Resolves to the visitor id once it is known. */
    visitorId: () =>
      new Promise<string>((resolve, reject) => {
        check();
        waiters.push([resolve, reject]);
        give();
      }),
    /** The visitor, for other hosts and other tabs; undefined before the database has answered. */
    known: () => (who?.number ? who.visitor : undefined),
    /** The visitor id, also before the database has answered. */
    id: () => who?.visitor.thread,
    pages: () => who?.number ?? 0,
    isAway: () => is(AWAY),
    /** Whether the page may write. */
    isStarted: () => !!who,
    /** Resolves once the last transaction is done. */
    asked: async () => asking,
    /** Whether a transaction is under way that others wait behind. */
    isBusy: () => !!asking,
  };
};
