import { renderReact } from './apps/reactServer.ts';
import { type Row, titles } from './rows.ts';

/** Reports the page's errors, and whether the page returns from the back/forward cache. */
const WATCH = `<script>
const report = (problem) => navigator.sendBeacon('/problem', location.href + ': ' + problem);
addEventListener('error', ({ message }) => report(message));
addEventListener('unhandledrejection', ({ reason }) => report(reason));
console.error = (...said) => report(said.join(' '));
addEventListener('pageshow', ({ persisted }) => { sessionStorage.isRestored = persisted; });
</script>`;

const tag = (words = '') =>
  `<script async src="/dist/clew.js" data-base-url="/clew" data-flush-interval="200" data-page-views="${words}"></script>`;
const script = (src: string) => `<script defer src="${src}"></script>`;

/** The page's process in WebKitGTK crashes in a view transition. Without the API, Astro swaps the pages without a transition. */
const WITHOUT_TRANSITIONS = `<script>
if (/AppleWebKit/.test(navigator.userAgent) && !window.chrome) delete Document.prototype.startViewTransition;
</script>`;

/** The parts of an app's pages: their heads, and the attributes of their bodies and links. */
interface Kind {
  readonly head: string;
  readonly body?: string;
  readonly link?: (url: string) => string;
  /** The server renders each page. Without it, all paths answer with the empty app. */
  readonly isRendered?: true;
}

const app = (name: string): Kind => ({ head: script(`/apps/${name}.js`) });
const spa = (name: string, words?: string): Kind => ({ head: tag(words) + script(`/apps/${name}.js`) });
const boosted = (file: string): Kind => ({ head: tag() + script(file), body: 'hx-boost="true"', isRendered: true });

const kinds: Record<string, Kind> = {
  html: { head: tag(), isRendered: true },
  history: spa('history'),
  'history-slow': spa('history'),
  navigation: spa('navigation'),
  hash: spa('hash', 'hash'),
  turbo: { head: `${tag()}<script type="module" src="/lib/turbo.js"></script>`, isRendered: true },
  htmx: boosted('/lib/htmx.js'),
  'htmx-push': {
    ...boosted('/lib/htmx.js'),
    body: '',
    link: (url) => `hx-get="${url}" hx-push-url="true" hx-target="body"`,
  },
  'htmx-4': boosted('/lib/htmx-4.js'),
  astro: { head: WITHOUT_TRANSITIONS + tag() },
  next: { head: tag() },
  'next-loading': { head: tag() },
  'next-redirect': { head: tag() },
  'next-react': { head: '' },
};
const kindOf = ({ id }: Row): Kind => kinds[id] ?? app(id.split('-')[0] ?? '');

/**
 * The beginning of the heads of all pages of the row.
 *
 * @param head more of the head
 */
export const headOf = (row: Row, head: string): string => WATCH + head + kindOf(row).head;

/** @param head more of the page's head */
export const renderPage = (row: Row, page: string, head: string): string => {
  const { id } = row;
  const { body = '', link = () => '', isRendered } = kindOf(row);
  const names = ['one', 'two', 'three', 'old'];
  const links = names.map((name) => {
    const url = `/${id}/${name}`;
    return `<a id="${name}" href="${url}" ${link(url)}>${name}</a>`;
  });
  const title = titles[page as keyof typeof titles];
  const markup = id === 'react-hydrated' ? renderReact(id, page) : '';
  const content = isRendered ? `<nav>${links.join(' ')}</nav><h1>${title}</h1>` : `<div id="app">${markup}</div>`;
  return `<!doctype html><html lang="en"><head><title>${isRendered ? title : 'App'}</title>${headOf(row, head)}</head>
<body ${body}>${content}</body></html>`;
};
