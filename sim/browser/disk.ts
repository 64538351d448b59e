import type { World } from '../world/world.ts';
import { compareKeys, type Key } from './keys.ts';
import { createRows, type Rows } from './objectStore.ts';
import type { Page } from './page.ts';

/** One request of a transaction. The result is made when the disk has done the work. */
export interface DiskRequest {
  readonly work: () => unknown;
  /** Dispatches `success`, in a task of the page. */
  readonly succeed: (result: unknown) => void;
  readonly fail: (cause: Error) => void;
}

/**
 * A transaction as the disk sees it. All transactions of a database read and write, so that they run one after the other.
 * https://w3.org/TR/IndexedDB/#transaction-lifetime-concept
 */
export interface Transaction {
  readonly page: Page;
  state: 'open' | 'committing' | 'ended';
  readonly requests: DiskRequest[];
  /** The disk works on one of its requests. */
  isBusy: boolean;
  /** Events of requests that the page has not seen yet. */
  unseen: number;
  readonly undo: (() => void)[];
  /** Keys that it has written to. */
  readonly written: Key[];
  complete(): void;
  abort(cause: Error): void;
}

export interface Connection {
  readonly page: Page;
  isOpen: boolean;
  /** The database is about to be deleted. */
  versionChange(): void;
  /** The browser has closed it. */
  closed(): void;
}

interface Opening {
  readonly page: Page | undefined;
  begin(): void;
}

/** The state of one database, of all pages of the origin. */
export interface Disk {
  rows(): Rows | undefined;
  /**
   * The rows that will last. On a full disk the running transaction will abort, so its rows do not count. With `isCertain`, they never
   * count.
   */
  committed(isCertain?: boolean): [key: Key, value: unknown][];
  /** How long the disk takes for one request, in ms. */
  speed: [least: number, most: number];
  /** Whether the disk is over quota: a transaction that has written then aborts when it commits. */
  isFull: boolean;
  isRefused: boolean;
  /** Every `open` hangs until this virtual time (ms). */
  hangsUntil: number;
  create(): void;
  remove(): void;
  readonly connections: Set<Connection>;
  /** The page whose transaction all others wait for. A closed connection lasts until its transactions have ended. */
  holder(): Page | undefined;
  /** Opens and deletes run one after the other. */
  enqueue(opening: Opening): void;
  /** Ends the current opening and begins the next one. */
  opened(): void;
  begin(transaction: Transaction): void;
  request(transaction: Transaction, request: DiskRequest): void;
  commit(transaction: Transaction): void;
  abort(transaction: Transaction, cause: Error): void;
  /** Whether the page opens the database or has a transaction that has not ended. */
  isUsedBy(page: Page): boolean;
  /** Ends the connections, openings and transactions of a page that is gone. */
  disconnect(page: Page, isKilled: boolean): void;
  /** Closes all connections and keeps the rows, as a browser does whose storage process has ended. */
  disconnectAll(): void;
  /** Closes all connections, as "clear site data" does. */
  clear(): void;
}

/** How long (ms) a page in the back/forward cache may block the transaction of another page. */
const PATIENCE = 10;
/** Share of the committed transactions that the browser loses as the page leaves. Chromium on a busy machine lost one in six. */
const LOST_COMMITS = 0.1;
/** Time (ms) after which a hanging `open` is tried again. */
const RETRY = 250;

export const createDisk = (world: World): Disk => {
  const { scheduler, random } = world;
  const losing = random.fork('lost commits');
  let rows: Rows | undefined;
  const connections = new Set<Connection>();
  const transactions: Transaction[] = [];
  const openings: Opening[] = [];
  let current: Opening | undefined;
  const latency = () => random.between(...disk.speed);

  const end = (transaction: Transaction) => {
    transaction.state = 'ended';
    transactions.splice(transactions.indexOf(transaction), 1);
    pump();
  };
  const abort = (transaction: Transaction, cause: Error) => {
    if (transaction.state === 'ended') return;
    for (const undo of transaction.undo.reverse()) undo();
    for (const request of transaction.requests.splice(0)) request.fail(cause);
    transaction.abort(cause);
    world.log('disk', () => `aborts ${transaction.undo.length} writes of ${transaction.page.name}: ${cause.message}`);
    end(transaction);
  };
  const finish = (transaction: Transaction) => {
    transaction.isBusy = true;
    scheduler.after(latency(), 'disk commits', () => {
      if (transaction.state === 'ended') return;
      const isOverQuota = disk.isFull && transaction.undo[0];
      if (isOverQuota) return abort(transaction, new DOMException('over quota', 'QuotaExceededError'));
      transaction.complete();
      transaction.page.storedAt ??= scheduler.now();
      world.log('disk', () => `commits ${transaction.undo.length} writes of ${transaction.page.name}`);
      end(transaction);
    });
  };
  const pump = () => {
    const [transaction] = transactions;
    if (!transaction || transaction.isBusy) return;
    const request = transaction.requests[0];
    if (!request) {
      if (transaction.state === 'committing') finish(transaction);
      return;
    }
    transaction.isBusy = true;
    scheduler.after(latency(), 'disk', () => {
      if (transaction.state === 'ended') return;
      transaction.isBusy = false;
      transaction.requests.shift();
      transaction.unseen++;
      request.succeed(request.work());
      pump();
    });
  };
  const open = () => {
    current ??= openings.shift();
    const mine = current;
    const begin = () => {
      if (mine !== current) return;
      if (disk.hangsUntil > scheduler.now()) return void scheduler.after(RETRY, 'open hangs', begin);
      mine?.begin();
    };
    if (mine) scheduler.after(latency(), 'disk opens', begin);
  };

  const disk: Disk = {
    rows: () => rows,
    committed(isCertain) {
      const [first] = disk.isFull || isCertain ? transactions : [];
      const isWritten = (key: Key) => first?.written.some((other) => compareKeys(key, other) === 0);
      return (rows?.range(undefined, Number.POSITIVE_INFINITY) ?? []).filter(([key]) => !isWritten(key));
    },
    speed: [0.05, 1],
    isFull: false,
    isRefused: false,
    hangsUntil: 0,
    create: () => {
      rows ??= createRows();
    },
    remove: () => {
      rows = undefined;
    },
    connections,
    holder: () => transactions[0]?.page,
    enqueue(opening) {
      openings.push(opening);
      if (!current) open();
    },
    opened() {
      current = undefined;
      open();
    },
    begin(transaction) {
      world.log('disk', () => `${transaction.page.name} begins a transaction`);
      transactions.push(transaction);
      const holder = disk.holder();
      if (holder?.state === 'suspended') scheduler.after(PATIENCE, 'disk evicts', () => holder.evict());
    },
    request(transaction, request) {
      transaction.requests.push(request);
      pump();
    },
    commit(transaction) {
      if (transaction.state !== 'open') return;
      transaction.state = 'committing';
      pump();
    },
    abort,
    isUsedBy: (page) => [current, ...openings, ...transactions].some((user) => user?.page === page),
    disconnect(page, isKilled) {
      // Chromium aborts a committed transaction that waits behind another one. Only the first transaction can last.
      for (const [index, transaction] of [...transactions].entries()) {
        if (transaction.page !== page) continue;
        const isLast = index === 0 && transaction.state === 'committing' && !disk.isFull;
        const lasts = isLast && !(isKilled && random.chance(0.5)) && !losing.chance(LOST_COMMITS);
        if (!lasts) abort(transaction, new DOMException('connection is gone', 'AbortError'));
      }
      for (const connection of connections) if (connection.page === page) connections.delete(connection);
      for (const opening of [...openings]) {
        if (opening.page === page) openings.splice(openings.indexOf(opening), 1);
      }
      if (current?.page === page) disk.opened();
      pump();
    },
    disconnectAll() {
      for (const transaction of [...transactions]) abort(transaction, new DOMException('cleared', 'AbortError'));
      for (const connection of connections) {
        connection.isOpen = false;
        connection.closed();
      }
      connections.clear();
    },
    clear() {
      disk.disconnectAll();
      rows = undefined;
    },
  };
  return disk;
};
