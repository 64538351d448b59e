/**
 * Pasted inline before anything else: `clew(…)` works from the first line of the page on. It remembers calls with their
 * own time, and copies what they are given: it may be changed afterwards. Should the page leave before the bundle has come,
 * the next page's bundle finds them in localStorage.
 */
type Stub = { (...call: unknown[]): void; q?: unknown[] };
/** Most characters of calls in localStorage, of all pages together: the site needs room for its own. */
const MOST = 5e5;
const w = window as { clew?: Stub };
// An element with this id is no function.
if (typeof w.clew !== 'function') {
  const q: [at: number, call: unknown[], seen: string[] | false][] = [];
  /** What JSON cannot say stays what it is: the bundle will tell. */
  const copy = (value: unknown) => {
    try {
      return JSON.parse(JSON.stringify(value));
    } catch {
      return value;
    }
  };
  const stub: Stub = (...call) => {
    // The page may have another address, or be another one, when the bundle makes the call.
    const seen = call[0] === 'page' && [document.title, location.href, location.pathname, document.referrer];
    q.push([Date.now(), call.map(copy), seen]);
  };
  stub.q = q;
  w.clew = stub;
  const save = () => {
    try {
      // The bundle empties `q`; before consent, or after a signal that counts as a refusal, nothing may be written.
      const isGpc = (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl;
      // While the HTML arrives, a tag that asks for consent may be still to come.
      const isOpen = document.readyState === 'loading' && !document.querySelector('[data-base-url]');
      if (!q[0] || isOpen || document.querySelector(`[data-consent*=required i]${isGpc ? ',[data-respect-gpc]' : ''}`))
        return;
      // The calls may have come before the title.
      for (const [, , seen] of q) if (seen) seen[0] ||= document.title;
      // One call that cannot be written is not to take the others with it.
      const text = JSON.stringify(q.splice(0).filter((call) => copy(call) !== call));
      let all = text;
      for (const [key, value] of Object.entries(localStorage)) if (/^clew.calls/.test(key)) all += value;
      // A key of this page's own, since another page may be replaying a list, and then deletes it. The time orders the keys. Two
      // bundles may replay one list, after a SIGKILL or in two tabs that load at once: the key's digits give its events their ids.
      if (all.length < MOST)
        localStorage[`clew.calls ${Date.now()} ${crypto.getRandomValues(new Uint32Array(4))}`] = text;
    } catch {}
  };
  addEventListener('pagehide', save);
}

export {};
