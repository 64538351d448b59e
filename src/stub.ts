/**
 * Pasted inline before anything else: `clew(…)` works from the first line of the page on. It remembers calls with their
 * own time; should the page leave before the bundle has come, the next page's bundle finds them in localStorage.
 */
type Stub = { (...call: unknown[]): void; q?: unknown[] };
const w = window as { clew?: Stub };
if (!w.clew) {
  const q: unknown[] = [];
  const stub: Stub = (...call) => {
    q.push([Date.now(), call]);
  };
  stub.q = q;
  w.clew = stub;
  addEventListener('pagehide', () => {
    try {
      // The bundle empties `q`; before consent nothing may be written.
      const key = 'clew.calls';
      if (q[0] && !document.querySelector('[data-consent=required]'))
        localStorage[key] = JSON.stringify(JSON.parse(localStorage[key] || '[]').concat(q.splice(0)));
    } catch {}
  });
}
