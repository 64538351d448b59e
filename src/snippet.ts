import { CALLS, carried, carry } from './page/carryOver.js';
import { normaliseOptions, type TrackerOptions } from './tracker/options.js';
import { startTracker } from './tracker/tracker.js';

/**
 * The script tag: options from its `data-` attributes, `window.clew` for the page, and the calls made before it came,
 * on this page and on earlier ones that left too soon.
 */
type Call = [method: string, ...args: unknown[]];
interface Clew {
  (...call: Call): unknown;
  /** Calls that the stub remembered: present until a bundle has taken them. */
  q?: [at: number, call: Call][];
}

/** `data-flush-interval="500"` is a number, `data-debug` or `data-debug="true"` a boolean, the rest text. */
const scalar = (text: string): unknown => {
  if (text === '' || text === 'true') return true;
  if (text === 'false') return false;
  return Number.isFinite(+text) ? +text : text;
};

const start = (host: { clew?: Clew }) => {
  const stub = host.clew;
  // A second script tag finds a tracker at work and leaves it to it.
  if (stub && !stub.q) return;
  const { dataset = {} } = (document.currentScript as HTMLScriptElement | null) ?? {};
  const options = Object.fromEntries(Object.entries(dataset).map(([name, text = '']) => [name, scalar(text)]));

  let replayed: number | undefined;
  const tracker = startTracker(normaliseOptions(options as unknown as TrackerOptions), () => replayed ?? Date.now());
  const clew: Clew = (method, ...args) => {
    const run = (tracker as unknown as Record<string, (...args: unknown[]) => unknown>)[method];
    if (typeof run === 'function') return run(...args);
    return console.error(`clew: there is no method ${method}; there are ${Object.keys(tracker).join(', ')}`);
  };
  host.clew = clew;

  const earlier = ((carried(CALLS) ?? []) as [number, Call][]).concat(stub?.q?.splice(0) ?? []);
  for (const [at, call] of earlier) {
    replayed = at;
    clew(...call);
  }
  replayed = undefined;
  carry(CALLS);
};

start(window as { clew?: Clew });
