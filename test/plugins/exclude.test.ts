import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PluginTools, Tracker } from '../../src/api/types.ts';
import type { TrackerOptions } from '../../src/index.ts';
import { type ExcludeOptions, exclude } from '../../src/plugins/exclude.ts';
import { createMemoryStore, createTestTracker } from '../../src/testing.ts';
import { openPage, settle } from './page.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Opens a page, tracks an event, and returns what has arrived. */
const visit = async (address: string, options?: ExcludeOptions, given: Partial<TrackerOptions> = {}) => {
  openPage();
  vi.stubGlobal('location', new URL(address, 'https://shop.example'));
  const { tracker, events } = createTestTracker({ baseUrl: '/clew', plugins: [exclude(options)], ...given });
  stops.push(tracker.stop);
  tracker.track('clicked');
  await tracker.flush();
  await settle();
  const names = () => events().map(({ event }) => event);
  return { tracker, events, names, isKept: names().includes('clicked') };
};

describe('the staff', () => {
  it('are excluded by a link, on later pages, too, and included again by another link', async () => {
    const store = createMemoryStore();
    const isKept = async (address: string) => (await visit(address, {}, { store })).isKept;
    expect(await isKept('/')).toBe(true);
    expect(await isKept('/?a=b&clew_ignore=1')).toBe(false);
    expect(await isKept('/')).toBe(false);
    expect(await isKept('/?clew_ignore=0')).toBe(true);
    expect(await isKept('/')).toBe(true);
  });

  it('are excluded and included in the tabs that are open, too', async () => {
    const store = createMemoryStore();
    const { tracker, names } = await visit('/?clew_ignore=1', {}, { store });
    const track = async () => {
      tracker.track('later');
      await tracker.flush();
      return names().length;
    };
    expect(await track()).toBe(0);
    await visit('/?clew_ignore=0', {}, { store });
    expect(await track()).toBe(1);
    await visit('/?clew_ignore=1', {}, { store });
    expect(await track()).toBe(1);
  });

  it('are counted as filtered', async () => {
    const { tracker } = await visit('/?clew_ignore');
    expect(tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { filtered: 1 } });
  });

  it('are remembered only with consent, and excluded at once', async () => {
    const store = createMemoryStore();
    const given = { store, consent: 'required' } as const;
    const { tracker, names } = await visit('/?clew_ignore=1', {}, given);
    expect((await visit('/', {}, { store })).isKept).toBe(true);
    tracker.consent(true);
    await tracker.correlationValue();
    await settle();
    expect(names()).toEqual([]);
    expect((await visit('/', {}, { store })).isKept).toBe(false);
  });

  it('have a parameter of another name, or none', async () => {
    expect((await visit('/?me=1', { staff: 'me' })).isKept).toBe(false);
    expect((await visit('/?clew_ignore=1', { staff: false })).isKept).toBe(true);
  });
});

describe('a page', () => {
  it.each([
    'http://localhost:3000/',
    'http://shop.localhost/',
    'http://127.0.0.1:8787/',
    'http://127.9.9.9/',
    'http://[::1]:3000/',
    'http://0.0.0.0/',
    'file:///shop.html',
  ])('of %s is excluded, unless localhost is false', async (address) => {
    expect((await visit(address)).isKept).toBe(false);
    expect((await visit(address, { localhost: false })).isKept).toBe(true);
  });

  it.each(['https://localhost.example/', 'https://notlocalhost/', 'http://10.0.0.1/'])(
    'of %s is kept',
    async (address) => {
      expect((await visit(address)).isKept).toBe(true);
    },
  );

  it('of an automated browser is excluded, unless automated is false', async () => {
    const isKept = async (options: ExcludeOptions) => {
      openPage();
      vi.stubGlobal('navigator', { onLine: true, webdriver: true });
      const { tracker, events } = createTestTracker({ plugins: [exclude(options)] });
      stops.push(tracker.stop);
      tracker.track('clicked');
      await tracker.flush();
      await settle();
      return events().length === 1;
    };
    expect([await isKept({}), await isKept({ automated: false })]).toEqual([false, true]);
  });
});

describe('a sample', () => {
  it('keeps its share of visitors, the same on each page, and each event states the share', async () => {
    const store = createMemoryStore();
    const [first, second] = [
      await visit('/', { sample: 0.5 }, { store }),
      await visit('/', { sample: 0.5 }, { store }),
    ];
    expect(second.isKept).toBe(first.isKept);
    openPage();
    /** The answer of the plugin to an event of the visitor. */
    const decide = (visitorId: string) => {
      const sees: (() => unknown)[] = [];
      const tools = { visitorId: () => visitorId, onTrack: (see: () => unknown) => sees.push(see), local: new Map() };
      exclude({ sample: 0.25 })({} as Tracker, tools as unknown as PluginTools);
      return sees[0]?.();
    };
    const kept = Array.from({ length: 2000 }, () => decide(randomUUID())).filter((result) => result !== false);
    expect(new Set(kept.map((result) => JSON.stringify(result)))).toEqual(new Set(['{"sampleRate":0.25}']));
    // The standard deviation is 19.
    expect(Math.abs(kept.length - 500)).toBeLessThan(120);
  });

  it('of less includes no visitor that one of more leaves out', async () => {
    const store = createMemoryStore();
    const shares = [0, 0.2, 0.4, 0.6, 0.8, 1];
    const kept: boolean[] = [];
    for (const sample of shares) kept.push((await visit('/', { sample }, { store })).isKept);
    expect(kept).toEqual(kept.toSorted());
    expect([kept[0], kept.at(-1)]).toEqual([false, true]);
  });

  it('keeps all events from before consent, and states that', async () => {
    const { tracker, events } = await visit('/', { sample: 0 }, { consent: 'required' });
    tracker.consent(true);
    tracker.track('later');
    await tracker.flush();
    await settle();
    expect(events().map(({ event, payload }) => [event, payload])).toEqual([['clicked', { sampleRate: 1 }]]);
  });

  it.each([-0.1, 1.1, Number.NaN, '0.1' as never])('of %s is an invalid option', (sample) => {
    expect(() => exclude({ sample })).toThrow(new TypeError('clew: sample: expected a number from 0 to 1'));
  });
});
