/**
 * Pasted inline before anything else: `clew(…)` works from the first line of the page on. It remembers calls with their
 * own time, and copies what they are given: it may be changed afterwards. Should the page leave before the bundle has come,
 * the next page's bundle finds them in localStorage.
 */
type Stub = { (...call: unknown[]): void; q?: unknown[] };
const w = window as { clew?: Stub };
if (!w.clew) {
  const q: unknown[] = [];
  /** What JSON cannot say stays what it is: the bundle will tell. */
  const copy = (value: unknown) => {
    try {
      return JSON.parse(JSON.stringify(value));
    } catch {
      return value;
    }
  };
  const stub: Stub = (...call) => {
    q.push([Date.now(), call.map(copy)]);
  };
  stub.q = q;
  w.clew = stub;
  const save = () => {
    try {
      // The bundle empties `q`; before consent, or after a signal that counts as a refusal, nothing may be written.
      const { globalPrivacyControl } = navigator as { globalPrivacyControl?: boolean };
      const silent = `[data-consent=required]${globalPrivacyControl ? ',[data-respect-gpc]' : ''}`;
      // A key of this page's own: another one may be replaying a list, and then deletes it. The keys are in order.
      if (q[0] && !document.querySelector(silent))
        // One call that cannot be written is not to take the others with it.
        localStorage[`clew.calls ${Date.now() + Math.random()}`] = JSON.stringify(
          q.splice(0).filter((call) => copy(call) !== call),
        );
    } catch {}
  };
  addEventListener('pagehide', save);
}
