import type { EngineName } from '../../faults/engines/engine.ts';
import type { Framework } from './built.ts';

/** The moments at which views are counted, in the order of the walk. Prerendering is no part of it, and has its own browser. */
export const moments = ['load', 'route', 'redirect', 'back', 'reload', 'restored', 'prerendered'] as const;
export type Moment = (typeof moments)[number];

export type Page = 'one' | 'two' | 'three';

/** The page that each moment shows. `old` redirects to `three`. */
export const shown: Record<Moment, Page> = {
  load: 'one',
  route: 'two',
  redirect: 'three',
  back: 'two',
  reload: 'two',
  restored: 'two',
  prerendered: 'one',
};

export const titles: Record<Page, string> = { one: 'One', two: 'Two', three: 'Three' };

/** A view as clew counts it. */
export interface View {
  readonly title: string;
  /** Without the origin. */
  readonly url: string;
}

/** One kind of app: a line of the table in docs/without-code.md. */
export interface Row {
  /** First part of its pages' paths. */
  readonly id: string;
  /** The first cell. */
  readonly app: string;
  /** The second cell. */
  readonly by: string;
  /** The framework's own command builds the app. */
  readonly framework?: Framework;
  /** The app keeps its routes in the hash. */
  readonly isHash?: true;
  /** The views that clew counts, unless it counts exactly one of the visible page. */
  readonly counted?: Partial<Record<Moment, readonly View[]>>;
  /** Engines that never keep this app's pages in the back/forward cache: they load the page instead. */
  readonly uncached?: readonly EngineName[];
  /** Errors in the page that come from the app's own library. */
  readonly problem?: RegExp;
}

const TAG = 'script tag';
const REACT = '`usePageViews`';
const VUE = '`createClew`';
/** Firefox does not keep pages of Next in the back/forward cache. */
const NEXT = { framework: 'next', uncached: ['firefox'] } as const;

export const rows: readonly Row[] = [
  { id: 'html', app: 'HTML pages', by: TAG },
  { id: 'history', app: 'History API', by: TAG },
  {
    id: 'history-slow',
    app: 'History API, sets the title after 300 ms',
    by: TAG,
    counted: {
      load: [{ title: 'App', url: '/history-slow/one' }],
      route: [{ title: 'One', url: '/history-slow/two' }],
      redirect: [{ title: 'Two', url: '/history-slow/three' }],
      back: [{ title: 'Three', url: '/history-slow/two' }],
      reload: [{ title: 'App', url: '/history-slow/two' }],
      prerendered: [{ title: 'App', url: '/history-slow/one' }],
    },
  },
  { id: 'navigation', app: 'Navigation API, sets the title after 300 ms', by: TAG },
  { id: 'hash', app: 'Routes in the hash', by: '`data-page-views="hash"`', isHash: true },
  // Turbo prefetches a link under the pointer. Firefox aborts this request when the page leaves.
  { id: 'turbo', app: 'Turbo 8', by: TAG, problem: /NetworkError when attempting to fetch/ },
  { id: 'htmx', app: 'htmx 2, `hx-boost`', by: TAG },
  { id: 'htmx-push', app: 'htmx 2, `hx-push-url`', by: TAG },
  { id: 'htmx-4', app: 'htmx 4, `hx-boost`', by: TAG },
  { id: 'react', app: 'React Router, `BrowserRouter`', by: REACT },
  { id: 'react-loader', app: 'React Router, `createBrowserRouter`, loaders', by: REACT },
  {
    id: 'react-navigate',
    app: 'React Router, `<Navigate>` to a route with a loader',
    by: REACT,
    counted: {
      redirect: [
        { title: 'Two', url: '/react-navigate/old' },
        { title: 'Three', url: '/react-navigate/three' },
      ],
    },
  },
  { id: 'react-hash', app: 'React Router, `createHashRouter`', by: REACT, isHash: true },
  { id: 'react-activity', app: 'React Router, pages in `Activity`', by: REACT },
  { id: 'react-hydrated', app: 'React Router, rendered on a server', by: REACT },
  { id: 'vue', app: 'Vue Router', by: VUE },
  { id: 'vue-kept', app: 'Vue Router, pages in `KeepAlive`', by: VUE },
  { id: 'vue-hash', app: 'Vue Router, `createWebHashHistory`', by: VUE, isHash: true },
  {
    id: 'astro',
    app: 'Astro 5, `<ClientRouter />`',
    by: TAG,
    framework: 'astro',
    counted: { back: [{ title: 'Three', url: '/astro/two' }] },
  },
  { id: 'next', app: 'Next.js 16, app router', by: TAG, ...NEXT },
  { id: 'next-react', app: 'Next.js 16, app router', by: REACT, ...NEXT },
  { id: 'next-loading', app: 'Next.js 16, `loading.js`', by: TAG, ...NEXT },
  {
    id: 'next-redirect',
    app: 'Next.js 16, `redirect()` in a page',
    by: TAG,
    ...NEXT,
    counted: {
      redirect: [
        { title: '', url: '/next-redirect/old' },
        { title: 'Three', url: '/next-redirect/three' },
      ],
    },
  },
];

export const urlOf = ({ id, isHash }: Row, page: string): string => (isHash ? `/${id}#/${page}` : `/${id}/${page}`);

/** The view that the visitor sees at that moment. */
export const expectedView = (row: Row, moment: Moment): View => ({
  title: titles[shown[moment]],
  url: urlOf(row, shown[moment]),
});

export const countedViews = (row: Row, moment: Moment): readonly View[] =>
  row.counted?.[moment] ?? [expectedView(row, moment)];

/** A cell of the table: how many views clew counts for one visible page. */
export const cellOf = (row: Row, moment: Moment): string => {
  const expected = expectedView(row, moment);
  const counted = countedViews(row, moment);
  const isRight = counted.every(({ title, url }) => url !== expected.url || title === expected.title);
  return `${counted.length} of 1${isRight ? '' : ', old title'}`;
};

/** The table as docs/without-code.md has it, without the spaces that align its columns. */
export const tableLines = (): string[] => [
  `| app | views by | ${moments.join(' | ')} |`,
  ...rows.map((row) => `| ${[row.app, row.by, ...moments.map((moment) => cellOf(row, moment))].join(' | ')} |`),
];
