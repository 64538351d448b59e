import type { Stats } from '../../../src/api/types.ts';
import type { Clew, Page } from '../../browser/page.ts';
import type { Scripts } from '../../bundle.ts';
import { OTHER } from '../../server/addresses.ts';
import { tokenOf } from '../../server/hmac.ts';
import { SERVICE_URL } from '../../server/relay.ts';
import type { World } from '../../world/world.ts';
import type { Ledger } from '../ledger.ts';
import type { Plan } from '../plan.ts';
import type { Filtering, Transporting } from './actions.ts';

interface Request {
  readonly leaving: boolean;
}
type Transport = (request: Request) => Promise<object> | false;

/** The exports of `dist/index.js` that a page uses. */
interface Exports {
  createTracker(options: object): Record<string, (...args: unknown[]) => unknown>;
  readonly fetchTransport: Transport;
  cookieDomain(domain: string): object;
}

/** The exports of `dist/plugins.js` that a page uses. */
interface Plugins {
  renewTokens(getToken: (primaryKey: string) => Promise<string | undefined>): () => unknown;
}

/** One tracker of a page, called like the script tag's. */
interface AppTracker {
  readonly call: Clew;
  /** Number of events that its `beforeSend` has filtered. */
  filtered: number;
}

/** A page's own code, which may import clew in place of the script tag. */
export interface App {
  transport: Transporting;
  beforeSend: Filtering;
  /** Pages in which events trickle in. */
  readonly trickling: Set<Page>;
  /** When the app's server last failed to give a new token. */
  tokenFailedAt: number;
  /** Runs the script tag, or makes the page's trackers. `page.clew()` then calls the first one, or all of them. */
  start(page: Page): void;
}

const trackersOf = (page: Page) => (page.window.trackers ?? []) as readonly AppTracker[];

/** The tracker of the page's first service, or its only one. */
export const firstOf = (page: Page): Clew | undefined => trackersOf(page)[0]?.call ?? page.clew();

/** The tracker of the page's other service, or its only one. */
export const otherOf = (page: Page): Clew | undefined => trackersOf(page)[1]?.call ?? page.clew();

/** Whether the page has a second tracker. */
export const hasOther = (page: Page): boolean => trackersOf(page).length > 1;

/** The counts of each tracker of the page, and the number of events that its `beforeSend` has filtered. */
export const accountsOf = (page: Page): { readonly stats: Stats; readonly filtered: number }[] => {
  const trackers = trackersOf(page);
  const stats = page.clew()?.('stats') as Stats | undefined;
  if (trackers[0]) return trackers.map(({ call, filtered }) => ({ stats: call('stats') as Stats, filtered }));
  return stats ? [{ stats, filtered: 0 }] : [];
};

/** Methods that the app calls on all trackers of the page. */
const COMMON = new Set(['identify', 'reset', 'on', 'flush', 'stop']);

/** Options of `createTracker`, parsed from the attributes of a script tag. */
const optionsOf = (dataset: Plan['dataset']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(dataset).map(([name, text]) => [name, /^(\d+|true|false)$/.test(text) ? JSON.parse(text) : text]),
  );

/** @param keyOf the key with which the app's server signs now */
export const createApp = (world: World, ledger: Ledger, plan: Plan, scripts: Scripts, keyOf: () => number): App => {
  const random = world.random.fork('app');

  /** Passes a request on, or fails as the walk has chosen. */
  const wrap =
    (pass: Transport): Transport =>
    (request) => {
      const kind = random.chance(0.5) ? app.transport : 'passes';
      if (kind !== 'passes') world.log('transport', () => kind);
      if (kind === 'throws') throw new Error('the transport throws');
      if (kind === 'refuses') return false;
      const rejection = () => Promise.reject(new Error('the transport rejects'));
      // Without a relay, clew would send the batch again, and the service would store the events twice.
      if (kind === 'rejects' || (kind === 'rejectsLate' && plan.isDirect)) return rejection();
      const answer = pass(request);
      return kind === 'rejectsLate' && answer ? answer.then(rejection) : answer;
    };

  const filter = (tracker: AppTracker) => (event: { event: string; payload?: { n?: number } }) => {
    const n = event.payload?.n ?? 0;
    const entry = ledger.tracked.get(n);
    if (app.beforeSend === 'keeps' || n % 3 || !entry) return event;
    tracker.filtered++;
    entry.dropped = 'filtered';
    world.log('beforeSend', () => `${app.beforeSend} event ${n}`);
    if (app.beforeSend === 'throws') throw new Error('beforeSend throws');
    return app.beforeSend === 'spoils' ? { event: '' } : null;
  };

  /** The app's server gives a new token a moment later. Sometimes it fails. */
  const getToken = (page: Page) => (primaryKey: string) =>
    new Promise<string | undefined>((resolve, reject) => {
      const isFailing = random.chance(0.2);
      const answer = () => {
        // The server gives no token of a person who has not logged in here.
        const isKnown = ledger.identified.some(({ person, isForged }) => person === primaryKey && !isForged);
        world.log(page.name, () => `${isFailing || !isKnown ? 'no ' : ''}new token for ${primaryKey}`);
        if (isFailing) {
          app.tokenFailedAt = world.scheduler.now();
          reject(new Error('the app’s server fails'));
        } else if (!isKnown) resolve(undefined);
        else resolve(tokenOf(primaryKey, world.serverClock(), keyOf()));
      };
      world.scheduler.after(random.between(5, 500), `${page.name} gets a token`, answer, { owner: page });
    });

  const createTracker = (exports: Exports, baseUrl: string): AppTracker => {
    const { createTracker, fetchTransport, cookieDomain } = exports;
    const domain = plan.dataset.cookieDomain;
    const made: AppTracker = {
      filtered: 0,
      call: (method, ...args) => tracker[method]?.(...args),
    };
    const tracker = createTracker({
      ...optionsOf(plan.dataset),
      baseUrl,
      cookieDomain: domain && cookieDomain(domain),
      beforeSend: filter(made),
      ...(plan.npm?.hasTransport && { transport: wrap(fetchTransport) }),
    });
    return made;
  };

  const startTrackers = (page: Page) => {
    const exports = page.run(scripts.npm) as Exports;
    const addresses = [plan.dataset.baseUrl ?? '', plan.isDirect ? SERVICE_URL + OTHER : OTHER];
    const trackers = addresses.slice(0, plan.npm?.hasOther ? 2 : 1).map((address) => createTracker(exports, address));
    const clew: Clew = (method, ...args) => {
      const [first, ...others] = trackers;
      const result = first?.call(method, ...args);
      if (!COMMON.has(method)) return result;
      const results = [result, ...others.map(({ call }) => call(method, ...args))];
      return method === 'flush' ? Promise.all(results) : result;
    };
    Object.assign(page.window, { trackers, clew });
  };

  const app: App = {
    transport: 'passes',
    beforeSend: 'keeps',
    trickling: new Set(),
    tokenFailedAt: Number.NEGATIVE_INFINITY,
    start(page) {
      page.guard(() => {
        if (plan.npm) startTrackers(page);
        else page.run(scripts.tag);
        if (!plan.hasTokens || plan.isDirect) return;
        const { renewTokens } = page.run(scripts.plugins) as Plugins;
        page.clew()?.('use', renewTokens(getToken(page)));
      });
    },
  };
  return app;
};
