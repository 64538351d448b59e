import { normaliseOptions, type TrackerOptions } from './api/options.js';
import { CALLS, carriedKeys, carriedList, carry } from './outbox/carryOver.js';
import { clicks } from './page/clicks.js';
import { browserContext } from './page/context.js';
import { pageViews } from './page/navigation.js';
import { addContext } from './recorder/prepare.js';
import { startTracker } from './tracker.js';
import { cookieDomain } from './visitor/cookieDomain.js';
import { linkTo } from './visitor/linkDomains.js';
import { parseJson } from './wire.js';

/**
 * The script tag: options from its `data-` attributes, `window.clew` for the page, and the calls made before it came,
 * on this page and on earlier ones that left too soon.
 */
type Call = [method: string, ...args: unknown[]];
interface Clew {
  (...call: Call): unknown;
  /** The calls that the stub remembered: there is none once a bundle has come. */
  q?: [at: number, call: Call][];
}

/**
 * `data-flush-interval="500"` is a number, `data-debug` and `data-debug="true"` are true, the rest is text. An address
 * begins as no JSON does, and is not tried: the first error of a page costs it a millisecond.
 */
const scalar = (text: string): unknown => (/^[/h]/.test(text) ? text : (parseJson(text || 'true') ?? text));

/** `data-page-views="hash query"` are two options that are true; `data-page-views` alone has none. */
const wordsOf = (value: unknown) => Object.fromEntries(`${value}`.split(/\s+/).map((word) => [word, true]));

const host = window as { clew?: Clew };

const start = () => {
  const options: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(document.currentScript?.dataset ?? {}))
    options[name] = scalar(text as string);

  if (options.pageViews) options.pageViews = pageViews(wordsOf(options.pageViews));
  if (options.clicks) options.clicks = clicks(wordsOf(options.clicks));
  if (options.cookieDomain) options.cookieDomain = cookieDomain(options.cookieDomain as string);
  if (options.linkDomains) options.linkDomains = linkTo(`${options.linkDomains}`.split(' '));

  /** When the call that is being replayed was made. */
  let replayed: number | undefined;
  const tracker = startTracker(
    normaliseOptions(options as unknown as TrackerOptions),
    options.context ? [addContext(browserContext)] : [],
    () => replayed ?? Date.now(),
  );
  const carried = carriedKeys(CALLS).sort();
  const calls = [...carried.flatMap(carriedList), ...(host.clew?.q?.splice(0) ?? [])];
  // No method takes more than three, and a list of them for each call would cost as much as what `track` does with it.
  const clew: Clew = (method, first, second, third) => {
    const methods = tracker as unknown as Record<string, (...args: unknown[]) => unknown>;
    return Object.hasOwn(methods, method)
      ? methods[method]?.(first, second, third)
      : console.error(`clew: no method ${method}`);
  };
  host.clew = clew;
  for (const entry of calls) {
    try {
      const [at, call] = entry as [number, Call];
      replayed = +new Date(at);
      // Neither at no time nor at none that there is.
      if (replayed && Array.isArray(call) && typeof call[0] === 'string') clew(...call);
    } catch {
      // Somebody else has written under our name.
    }
  }
  replayed = undefined;
  for (const key of carried) carry(key);
};

// A second script tag finds a tracker at work and leaves it to it.
if (!host.clew || host.clew.q) start();
