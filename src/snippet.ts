import { normaliseOptions, type TrackerOptions } from './api/options.js';
import type { Tracker } from './api/types.js';
import { CALLS, entryKeys, readList, writeEntry } from './outbox/local.js';
import { withoutLink } from './page/address.js';
import { clicks } from './page/clicks.js';
import { browserContext } from './page/context.js';
import { pageViews } from './page/navigation.js';
import { addContext } from './recorder/prepare.js';
import type { Made } from './recorder/recorder.js';
import { startTracker } from './tracker.js';
import { cookieDomain } from './visitor/cookieDomain.js';
import { DOMAIN, linkTo } from './visitor/linkDomains.js';
import { parseJson } from './wire.js';

/**
 * The script tag: options from its `data-` attributes, `window.clew` for the page, and the calls that the stub kept. The stub
 * keeps calls of this page, and of earlier pages that left before the bundle had loaded.
 */
type Call = [method: string, ...args: unknown[]];
interface Clew {
  (...call: Call): unknown;
  /** The calls that the stub kept. The list is missing once a bundle has loaded. */
  q?: Early[];
}
/**
 * `seen` is the page of a call of `page`: title, URL, path and referrer. `settle` settles the promise of the call, if its page is still
 * there. Earlier versions of the stub lack both.
 */
type Early = [at: number, call: Call, seen?: unknown, settle?: unknown];

/** Words for true and false, in any letters: templates of other languages write `False`. */
const SWITCH = /^\s*(?:(true|yes|on)|false|no|off)\s*$/i;

/**
 * `data-flush-interval="500"` is a number, `data-debug` and `data-debug="true"` are true, the rest is text. Words are not parsed: the first
 * error of a page costs it a millisecond.
 */
const scalar = (text: string): unknown => {
  const word = SWITCH.exec(text || 'true');
  if (word) return !!word[1];
  return /^[a-z/]/i.test(text) ? text : (parseJson(text) ?? text);
};

/** Options whose text may look like a number or a switch. */
const isText = (name: string): boolean => /^(apiKey|storageName|visitorId|release)$|Url$/.test(name);

/** The words of an attribute's value, in lower case. */
const wordsOf = (value: unknown): string[] =>
  `${value}`
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter(Boolean);

/** `data-page-views="hash query"` sets two options to true. `data-page-views` alone sets none. Unknown words are logged as errors. */
const flagsOf = (name: string, value: unknown, known: string[]): Record<string, true> => {
  const flags: Record<string, true> = {};
  for (const word of wordsOf(value))
    if (known.includes(word)) flags[word] = true;
    else if (word !== 'true') console.error(`clew: ${name}: expected ${known}, not ${word}`);
  return flags;
};

/** `data-link-domains="shop.example help.example"`. Others are logged as errors: no link would match them. */
const domainsOf = (value: unknown): string[] =>
  wordsOf(value).filter(
    (word) => DOMAIN.test(word) || console.error(`clew: linkDomains: expected domains, not ${word}`),
  );

/** The methods whose calls may have an id. */
const HAS_ID = /^(track|page|identify|reset)/;

/**
 * The v4 UUID of a call that the stub has saved. The UUID consists of the last digits of the call's key, which are random, and of the
 * call's place in the list. The shorter keys of earlier versions make none.
 */
const idOf = (key: string, place: number): string | undefined => {
  const digits = `${key}${1e5 + place}`.replace(/\D/g, '').slice(-30);
  return digits[29] && digits.replace(/(.{8})(.{4})(.{3})(.{3})/, '$1-$2-4$3-8$4-');
};

/** A call as it was made. A `page_view` has the page's address and title of then. A missing title is read later. */
const callOf = (call: Call, seen: unknown): Call => {
  if (call[0] !== 'page' || !Array.isArray(seen)) return call;
  const [title, url, path, referrer] = seen;
  const context = { url: withoutLink(`${url}`), path, referrer: withoutLink(`${referrer}`), ...(title && { title }) };
  return ['page', { ...context, ...Object(call[1]) }];
};

const host = window as { clew?: Clew };

const start = () => {
  const options: Record<string, unknown> = {};
  // An attribute cannot have an object or a function.
  for (const [name, text] of Object.entries(document.currentScript?.dataset ?? {}))
    if (!/^(store|transport)$/.test(name)) options[name] = isText(name) ? text : scalar(text as string);

  const { pageViews: views, clicks: clicked, linkDomains: domains, consent = 'granted' } = options;
  options.consent = wordsOf(consent).join();
  if (views) options.pageViews = pageViews(flagsOf('pageViews', views, ['hash', 'query', 'campaign']));
  if (clicked) options.clicks = clicks(flagsOf('clicks', clicked, ['outbound', 'downloads']));
  options.cookieDomain = options.cookieDomain ? cookieDomain(options.cookieDomain as string) : undefined;
  options.linkDomains = domains ? linkTo(domainsOf(domains)) : undefined;

  /** The call that is being replayed. */
  let replayed: Made | undefined;
  const tracker = startTracker(
    normaliseOptions(options as unknown as TrackerOptions),
    options.context ? [addContext(browserContext)] : [],
    () => {
      const made = replayed;
      replayed = made && { at: made.at };
      return made;
    },
  );
  const stubbed = host.clew?.q ?? [];
  const methods = {
    ...tracker,
    // A function that the stub has saved is null on the next page.
    ready: (callback?: (tracker: Tracker) => void) =>
      tracker.use((callback && (() => void callback(tracker))) as never),
  } as unknown as Record<string, (...args: unknown[]) => unknown>;
  // No method takes more than three arguments. A rest parameter would allocate a list for each call of `track`.
  const clew: Clew = (method, first, second, third) =>
    Object.hasOwn(methods, method)
      ? methods[method]?.(first, second, third)
      : console.error(`clew: no method ${method}`);
  host.clew = clew;
  /**
   * The calls of a list, with their places in the order of all calls. Other code may have written anything under a key of the stub's.
   *
   * @param key that of a list which a page has left
   */
  const entriesOf = (list: readonly unknown[], key?: string) => {
    let last = 0;
    const entries = list.map((entry, index) => {
      const [time, call, seen, settle] = Object(Array.isArray(entry) ? entry : []) as Early;
      const at = typeof time === 'object' ? 0 : +new Date(time) || 0;
      // The clock may have been set back in between, or since the page has left.
      last = Math.max(last, key && at > Date.now() ? 0 : at);
      return {
        at,
        call,
        seen,
        settle,
        // A plugin sees all calls.
        place: call?.[0] === 'use' ? -1 : last,
        id: key && idOf(key, index),
        isLeft: !!key,
      };
    });
    // Without those with time 0 or an invalid date. The `stop` of an earlier page concerns its own tracker.
    return entries.filter(
      ({ at, call, isLeft }) =>
        at && Array.isArray(call) && typeof call[0] === 'string' && !(isLeft && call[0] === 'stop'),
    );
  };
  const run = ({ call, seen, settle, isLeft }: ReturnType<typeof entriesOf>[number]) => {
    // JSON has made null of a missing argument.
    const args = isLeft ? (call.map((one) => one ?? undefined) as Call) : call;
    const result = clew(...callOf(args, seen)) as { catch?(ignore: () => void): void } | undefined;
    if (typeof settle === 'function') settle(result);
    // The caller is a page that has left.
    else result?.catch?.(() => {});
  };
  const replay = (own: readonly Early[]) => {
    // The browser may discard a prerendered page, so these calls are left to a page that is shown.
    const keys = (document as { prerendering?: boolean }).prerendering ? [] : entryKeys(CALLS).sort();
    const left = keys.flatMap((key) => entriesOf(readList(key), key));
    // The page before has run until this one arrived. A site's own variable may replace `performance`.
    const [arrival] = performance?.getEntriesByType?.('navigation') ?? [];
    const age = (performance?.now?.() ?? 0) - ((arrival as PerformanceNavigationTiming)?.responseStart ?? 0);
    const loadedAt = Date.now() - age;
    // Pages that are open at the same time change the visitor in the order of time.
    for (const entry of [...left, ...entriesOf(own)].sort((one, other) => one.place - other.place)) {
      const { at, id, call, isLeft } = entry;
      replayed = HAS_ID.test(call[0]) ? { at, id, isBefore: isLeft && at < loadedAt } : { at };
      try {
        run(entry);
      } catch (error) {
        console.error('clew:', error);
      }
    }
    replayed = undefined;
    for (const key of keys) writeEntry(key);
  };
  const early = stubbed.splice(0);
  // The page may have kept the stub's function.
  stubbed.push = (...calls) => {
    for (const entry of entriesOf(calls)) run(entry);
    return 0;
  };
  replay(early);
  // A page can leave too soon while this one is in the back/forward cache.
  addEventListener('pageshow', ({ persisted }) => persisted && replay([]), true);
};

// A second script tag finds a tracker at work and leaves it to it.
// An element with this id is no function.
if (typeof host.clew !== 'function' || host.clew.q) start();
