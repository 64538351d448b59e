import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Stats } from '../../src/api/types.ts';
import { watch } from '../../src/inspector/session.ts';
import type { ClewFunction, Inspectable } from '../../src/inspector/subject.ts';

type Listener = (value: unknown) => void;

/** A tracker whose reports the test emits. */
const createSubject = (stats: Stats = { tracked: 0, delivered: 0, queued: 0, dropped: {} }) => {
  const listeners = new Set<readonly [string, Listener]>();
  const tracker = {
    on(signal: string, listener: Listener) {
      const pair = [signal, listener] as const;
      listeners.add(pair);
      return () => listeners.delete(pair);
    },
    stats: vi.fn(() => stats),
  };
  const tell = (signal: string, value: unknown) => {
    for (const [heard, listener] of listeners) if (heard === signal) listener(value);
  };
  const track = (uuid: string) => {
    stats.tracked++;
    stats.queued++;
    tell('trace', { step: 'tracked', event: { uuid, event: 'signup' } });
  };
  return { tracker: tracker as unknown as Inspectable, stats: tracker.stats, listeners, tell, track };
};

/** The page's stub. `load` replaces it, as the bundle does. */
const createPage = () => {
  const q: unknown[] = [];
  const stub = Object.assign((...call: unknown[]) => void q.push([0, call]), { q });
  vi.stubGlobal('window', { clew: stub });
  return {
    stub,
    q,
    load({ tracker }: ReturnType<typeof createSubject>) {
      const methods = tracker as unknown as Record<string, (...args: unknown[]) => unknown>;
      const clew = (method: string, ...args: unknown[]) => methods[method]?.(...args);
      for (const [, call] of q.splice(0) as [number, [string, ...unknown[]]][]) clew(...call);
      vi.stubGlobal('window', { clew });
    },
  };
};

afterEach(() => vi.unstubAllGlobals());

describe('watching a tracker', () => {
  it("begins with the tracker's totals and follows its signals", () => {
    const changed = vi.fn();
    const { tracker, track } = createSubject({ tracked: 3, delivered: 3, queued: 0, dropped: {} });
    const { model } = watch(tracker, changed);
    expect(model).toMatchObject({ before: 3, stats: { tracked: 3 } });
    track('a');
    expect(model.stats).toEqual({ tracked: 4, delivered: 3, queued: 1, dropped: {} });
    expect(model.events.has('a')).toBe(true);
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it('removes all listeners at its end', () => {
    const { tracker, track, listeners } = createSubject();
    const { model, stop } = watch(tracker, () => {});
    expect(listeners.size).toBe(4);
    stop();
    track('a');
    expect([listeners.size, model.events.size]).toEqual([0, 0]);
  });

  it('reads the totals after a burst, not during it', () => {
    const changed = vi.fn();
    const { tracker, track, stats } = createSubject();
    const { model, look } = watch(tracker, changed);
    for (let n = 0; n < 100; n++) track(`${n}`);
    stats.mockClear();
    changed.mockClear();
    look();
    expect(stats).not.toHaveBeenCalled();
    expect(changed).toHaveBeenCalled();
    expect(model.stats.tracked).toBe(100);
    look();
    expect(stats).toHaveBeenCalled();
  });
});

describe("watching the script tag's function", () => {
  it('works as for a tracker', () => {
    const subject = createSubject();
    const page = createPage();
    page.load(subject);
    const { clew } = window as unknown as { clew: ClewFunction };
    const { model, stop } = watch(clew, () => {});
    subject.track('a');
    expect(model.stats.tracked).toBe(1);
    stop();
    expect(subject.listeners.size).toBe(0);
  });

  it('begins before the bundle loads, without calls that the stub cannot answer', () => {
    const subject = createSubject();
    const page = createPage();
    const { model, look } = watch(page.stub, () => {});
    look();
    expect(page.q).toHaveLength(4);
    page.load(subject);
    subject.track('a');
    look();
    expect(model).toMatchObject({ before: 0, stats: { tracked: 1, queued: 1 } });
  });

  it('leaves nothing in the stub when it ends before the bundle loads', () => {
    const page = createPage();
    page.stub('track', 'signup');
    watch(page.stub, () => {}).stop();
    expect(page.q).toEqual([[0, ['track', 'signup']]]);
  });

  it('ignores signals when it ends after the bundle loads, although the stub cannot unsubscribe', () => {
    const changed = vi.fn();
    const subject = createSubject();
    const page = createPage();
    const { model, stop } = watch(page.stub, changed);
    page.load(subject);
    stop();
    subject.track('a');
    expect(changed).not.toHaveBeenCalled();
    expect(model.events.size).toBe(0);
  });
});
