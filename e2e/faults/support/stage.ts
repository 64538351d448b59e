import { setTimeout as pause } from 'node:timers/promises';
import type { ListedEvent } from '../../../demo/collector/listings.ts';
import type { Demo } from '../../support/demo.ts';
import type { Engine, EngineName, Privacy, Tab } from '../engines/engine.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { type Site, startSite } from './site.ts';
import { numbersIn, storedTexts } from './stored.ts';
import { createTroupe } from './troupe.ts';
import { judge, type RunVerdict } from './verdict.ts';

interface Visit {
  /** @default '/page/1' */
  path?: string;
  /** The query for `renderPage`. */
  query?: string;
  /** Where a new tab is opened. @default the shared browser */
  browser?: Engine;
  /** @default a new one */
  tab?: Tab;
  /** `stored` waits until the visitor is known, and so the database is open. @default 'stored' */
  wait?: 'load' | 'stored';
}

/** Where one fault is played once: a site of its own, a ledger, and browsers. */
export interface Stage extends Omit<Ledger, 'missing' | 'balance'> {
  readonly engine: EngineName;
  readonly site: Site;
  readonly demo: Demo;
  /** Shared by all tests of a worker. */
  readonly browser: Engine;
  /** Opens a browser on this stage's own profile. After `kill` or `quit`, it is a restart. */
  openOwn(privacy?: Privacy): Promise<Engine>;
  visit(options?: Visit): Promise<Tab>;
  /** Waits until the tab has loaded this path by itself, after `location.href = …`, a click or `back`. */
  reached(tab: Tab, path: string): Promise<void>;
  /** Tracks the next numbers, in one task. The ledger reserves them before the page tracks. */
  track(tab: Tab, count?: number): Promise<number[]>;
  /** This run's events at the collector, in order of arrival. */
  arrived(): Promise<ListedEvent[]>;
  /** How many items are stored, unsent, for the site. */
  stored(tab: Tab): Promise<number>;
  /** This run's numbers that have arrived or are stored for the site. */
  known(tab: Tab): Promise<number[]>;
  /** Allows problems that the fault causes on purpose. */
  expectProblems(pattern: RegExp): void;
  /** Ends the fault, and tracks one more event in a fresh page. Waits until all events have arrived and the store is empty. */
  settle(browser?: Engine): Promise<void>;
}

/** A play that read the arrivals at most this long (ms) before it failed was waiting for them. */
const ASKED = 2000;

const trackInOneTask = ({ run, from, count }: { run: string; from: number; count: number }) => {
  for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
};

const reached: Stage['reached'] = async (tab, path) => {
  const isThere = (there: string) => location.pathname === there && document.readyState === 'complete';
  // Between two pages, `evaluate` fails.
  while (!(await tab.evaluate(isThere, path).catch(() => false))) await pause(20);
};

/**
 * @param patience how long settling may take, in ms
 * @returns `finish` settles if the play did not, and returns the verdict. `fail` returns the verdict after an error of the play.
 */
export const openStage = async (shared: Engine, demo: Demo, patience: number) => {
  const site = await startSite(demo);
  const ledger = createLedger();
  const troupe = await createTroupe(shared);
  const expected: RegExp[] = [];
  let settled: Tab | undefined;

  /** When the play last read the arrivals. */
  let asked = 0;
  const arrived = async () => {
    asked = Date.now();
    return (await demo.events('ledger')).filter(
      ({ payload }) => (payload as { run?: string } | null)?.run === ledger.run,
    );
  };
  const arrivals = async () =>
    (await arrived()).map(({ payload, correlationValue: visitor }) => ({ n: (payload as { n: number }).n, visitor }));
  const arrivedNumbers = async () => (await arrivals()).map(({ n }) => n);

  const visit: Stage['visit'] = async ({ path = '/page/1', query = '', browser, tab, wait = 'stored' } = {}) => {
    const visited = tab ?? (await (browser ?? troupe.shared).newTab());
    await visited.goto(`${site.origin}${path}${query && `?${query}`}`);
    if (wait === 'stored') await visited.evaluate(() => window.clew('correlationValue'));
    return visited;
  };
  const track: Stage['track'] = async (tab, count = 1) => {
    const numbers = ledger.next(count);
    await tab.evaluate(trackInOneTask, numbers);
    return Array.from({ length: count }, (_, index) => numbers.from + index);
  };

  const settle: Stage['settle'] = async (given) => {
    const until = Date.now() + patience;
    const browser = given ?? (await troupe.last());
    site.fault = undefined;
    await demo.fault({ mode: 'none' });
    await site.accept();
    await browser.setOffline?.(false);
    settled = await visit({ path: '/page/settle', browser, wait: 'load' });
    await track(settled);
    const isDone = async (tab: Tab) =>
      ledger.missing(await arrivedNumbers()).length === 0 && (await storedTexts(tab).catch(() => [''])).length === 0;
    while (!(await isDone(settled)) && Date.now() < until) await pause(100);
  };

  const stage: Stage = {
    ...ledger,
    engine: shared.name,
    site,
    demo,
    browser: troupe.shared,
    openOwn: troupe.openOwn,
    visit,
    reached,
    track,
    arrived,
    // A page that has just left may have written an item into both storages.
    stored: async (tab) => new Set(await storedTexts(tab)).size,
    known: async (tab) => [...new Set([...(await arrivedNumbers()), ...numbersIn(await storedTexts(tab), ledger.run)])],
    expectProblems: (pattern) => void expected.push(pattern),
    settle,
  };

  const repeats = () => [...site.stored.values()].filter((times) => times > 1).length;
  const finish = async (): Promise<RunVerdict> => {
    if (!settled) await settle();
    const trouble: string[] = [];
    const readLeft = async (tab: Tab) => await storedTexts(tab).catch((error) => void trouble.push(String(error)));
    const left = (settled && (await readLeft(settled))) ?? [];
    return judge({
      balance: ledger.balance(await arrivals(), numbersIn(left, ledger.run)),
      left: left.length,
      problems: [...trouble, ...site.problems, ...(await troupe.problems())].filter(
        (problem) => !expected.some((e) => e.test(problem)),
      ),
      repeats: repeats(),
    });
  };
  /** A missing event may still arrive. The event is lost if the play has waited for it, and it is missing after settling, too. */
  const fail = async (error: unknown): Promise<RunVerdict> => {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const hasWaited = Date.now() - asked < ASKED && error instanceof Error && 'matcherResult' in error;
    const end = hasWaited ? await finish().catch(() => undefined) : undefined;
    if (end) return { ...end, survived: false, details: [problem, ...end.details] };
    return judge({
      balance: { ...ledger.balance(await arrivals().catch(() => []), []), lost: [] },
      left: 0,
      problems: [problem],
      repeats: repeats(),
    });
  };
  const close = async () => {
    await site.accept();
    await troupe.leave();
    await site.close();
  };
  return { stage, finish, fail, close };
};
