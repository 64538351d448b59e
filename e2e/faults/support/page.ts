/** The signals that the page keeps for the test. */
export interface Told {
  dropped: [n: number | undefined, reason: string][];
  errors: string[];
  delivered: (number | undefined)[];
}

declare global {
  interface Window {
    /** Errors, rejections and lines on the console, which no tracker may cause. */
    problems: string[];
    /** The signals of the tracker. The numbers are those of the payloads. */
    told: Told;
  }
}

/** Nonce of all scripts of a page, for policies that ask for one. */
const NONCE = 'page';

/** Runs in the page, before everything else. */
const watch = () => {
  window.problems = [];
  const report = (what: string, cause: unknown) => {
    // In some browsers, the stack does not include the message.
    const problem = `${what}: ${cause}${cause instanceof Error ? `\n${cause.stack}` : ''}`;
    window.problems.push(problem);
    // Also sent at once, because the test can read nothing from a page that has left.
    navigator.sendBeacon('/problem', problem);
  };
  addEventListener('error', ({ error, message }) => report('error', error ?? message));
  addEventListener('unhandledrejection', ({ reason }) => report('unhandledrejection', reason));
  for (const level of ['error', 'warn'] as const) {
    const log = console[level];
    console[level] = (...args: unknown[]) => {
      log.apply(console, args);
      report(`console.${level}`, args.map(String).join(' '));
    };
  }
};

/** Runs in the page, right after the stub. */
const listen = () => {
  window.told = { dropped: [], errors: [], delivered: [] };
  const { dropped, errors, delivered } = window.told;
  type Listed = { payload?: { n?: number } }[];
  const numbers = (events: Listed) => events.map(({ payload }) => payload?.n);
  window.clew('on', 'dropped', ({ events, reason }: { events: Listed; reason: string }) => {
    for (const n of numbers(events)) dropped.push([n, reason]);
  });
  window.clew('on', 'error', ({ message }: Error) => errors.push(message));
  window.clew('on', 'delivered', ({ events }: { events: Listed }) => delivered.push(...numbers(events)));
};

const quote = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** A visit's query that runs `script` before everything else on the page. The script closes over nothing. */
export const before = <A = undefined>(script: (arg: A) => void, arg?: A): string =>
  `before=${encodeURIComponent(`(${script})(${JSON.stringify(arg)})`)}`;

/** The same right after the stub, when the bundle cannot be loaded yet. */
export const afterStub: typeof before = (script, arg) => before(script, arg).replace('before', 'after');

/**
 * A page as customers build it: the stub inline, the script tag behind it.
 *
 * @param query `data-…` are the tag's attributes. `tag=none` omits stub and tag. `delay` is the delay of the bundle in ms.
 * `before` and `after` are code that runs there, from `before()` and `afterStub()`.
 */
export const renderPage = (query: URLSearchParams, stub: string): string => {
  const attributes = new Map([
    ['data-base-url', '/clew'],
    ['data-flush-interval', '200'],
    ...[...query].filter(([name]) => name.startsWith('data-')),
  ] as [string, string][]);
  const source = `/dist/clew.js${query.has('delay') ? `?delay=${query.get('delay')}` : ''}`;
  const options = [...attributes].map(([name, value]) => ` ${name}="${quote(value)}"`).join('');
  const inline = (code: string) => `<script nonce="${NONCE}">${code}</script>`;
  const tag = `${inline(stub)}
${inline(`(${listen})()`)}
${query.getAll('after').map(inline).join('\n')}
<script nonce="${NONCE}" async src="${quote(source)}"${options}></script>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>A page</title>
<link rel="icon" href="data:,">
${query.getAll('before').map(inline).join('\n')}
${inline(`(${watch})()`)}
${query.get('tag') === 'none' ? '' : tag}
<a id="next" href="/page/next">next</a>
<form id="form" action="/page/submitted"><button id="submit">submit</button></form>
<button id="button" type="button">button</button>
</html>`;
};
