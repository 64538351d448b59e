/**
 * Pasted inline before anything else, so that `clew(…)` works from the first line of the page on. The stub keeps each call with
 * its time and a copy of its arguments, because the page may change them later. If the page leaves before the bundle has loaded, the
 * bundle of the next page reads the calls from localStorage. Each call returns a promise, which the bundle settles. Without the bundle,
 * the promise stays pending.
 */
type Stub = { (...call: unknown[]): Promise<unknown>; q?: unknown[] };
/** https://w3c.github.io/gpc/ */
type Signal = { globalPrivacyControl?: boolean };
/** Most characters of calls in localStorage, of all pages together, without the commas between them: the site needs room for its own. */
const MOST = 5e5;
/** Most calls in memory, because a blocker may keep the bundle away. */
const MOST_CALLS = 5e3;
const w = window as { clew?: Stub };
// An element with this id is no function.
if (typeof w.clew !== 'function') {
  const q: [at: number, call: unknown[], seen: string[] | false, settle: (result: unknown) => void][] = [];
  /** A value that JSON cannot express stays as it is, and the bundle reports it. */
  const copy = (value: unknown) => {
    try {
      return JSON.parse(JSON.stringify(value));
    } catch {
      return value;
    }
  };
  const stub: Stub = (...call) =>
    new Promise((settle) => {
      // The other methods change the visitor or the consent, and must not be lost.
      if (!q[MOST_CALLS - 1] || !/^(track|page|set)/.test(call[0] as string))
        q.push([
          Date.now(),
          call.map(copy),
          // The page may have another address, or be another one, when the bundle makes the call.
          call[0] === 'page' && [document.title, location.href, location.pathname, document.referrer],
          settle,
        ]);
    });
  stub.q = q;
  w.clew = stub;
  const save = () => {
    try {
      // While the HTML arrives, the tag that requires consent may not be parsed yet.
      const isOpen = document.readyState === 'loading' && !document.querySelector('[data-base-url]');
      // Before consent, or after a signal that counts as a refusal, nothing may be written.
      if (
        isOpen ||
        document.querySelector(
          `[data-consent*=required i]${(navigator as Signal).globalPrivacyControl ? ',[data-respect-gpc]' : ''}`,
        )
      )
        return;
      let room = MOST;
      for (const key in localStorage) if (/^clew.calls/.test(key)) room -= localStorage[key].length;
      // The bundle empties `q`.
      const calls = q.splice(0).filter((call) => {
        // The page may set its title after the call.
        if (call[2]) call[2][0] ||= document.title;
        // One call that cannot be written is not to take the others with it.
        if (room > 0 && copy(call) !== call) {
          room -= JSON.stringify(call).length;
          return room > 0;
        }
        return false;
      });
      // A key of this page's own, since another page may be replaying a list, and then deletes it. The time orders the keys. Two
      // bundles may replay one list, after a SIGKILL or in two tabs that load at once: the key's digits give its events their ids.
      if (calls[0])
        localStorage[`clew.calls ${Date.now()} ${crypto.getRandomValues(new Uint32Array(4))}`] = JSON.stringify(
          calls,
          // Prototype 1.6 makes a text of each list: https://api.prototypejs.org/language/Array/prototype/toJSON
          function (this: Record<string, unknown>, key, value) {
            return value && this[key];
          },
        );
    } catch {}
  };
  addEventListener('pagehide', save);
}

export {};
