// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Plugin, PluginStorage, PluginTools } from '../../src/api/types.ts';
import * as consent from '../../src/consent.ts';
import { clicks, createTracker, firstTouch, pageViews, type TrackerOptions } from '../../src/index.ts';
import * as shipped from '../../src/plugins.ts';
import { createTestTracker } from '../../src/testing.ts';

const stops: (() => void)[] = [];
beforeEach(() => vi.stubGlobal('sessionStorage', {}));
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.unstubAllGlobals();
});

const nothing = () => {};
/** A tracker that stops when the test ends, with the errors that it reports. */
const create = (options?: Partial<TrackerOptions>) => {
  const errors: string[] = [];
  const report: Plugin = (tracker) => tracker.on('error', ({ message }) => errors.push(message));
  const test = createTestTracker({ ...options, plugins: [report, ...(options?.plugins ?? [])] });
  stops.push(test.tracker.stop);
  return { ...test, errors };
};
/** A tracker with a plugin that only passes its tools to the test. */
const toolsOf = (options?: Partial<TrackerOptions>) => {
  const given: PluginTools[] = [];
  const test = create({
    ...options,
    plugins: [
      (_tracker, tools) => {
        given.push(tools);
        return nothing;
      },
    ],
  });
  const [tools] = given;
  if (!tools) throw new Error('the plugin did not start');
  return { ...test, ...tools };
};

it.each<[string, (...options: never[]) => unknown]>(
  Object.entries({ ...shipped, ...consent, clicks, firstTouch, pageViews }),
)('%s that is not called is an error, and stop() does not call its result', (_name, creator) => {
  const { tracker, errors } = create({ plugins: [creator as never] });
  const expected = expect.stringMatching(/: expected a (plugin, such as sessions\(\)|function)$/);
  expect(errors).toEqual([expected]);
  tracker.use(creator as never);
  tracker.stop();
  expect(errors).toEqual([expected, expected]);
});

describe('a preview', () => {
  it('is the payload that clew would store, and tracks nothing', async () => {
    const { tracker, preview, onTrack, events } = toolsOf({
      context: () => ({ release: '1' }),
      beforeSend: ({ event, payload }) => ({ event, payload: { ...(payload as object), secret: undefined } }),
    });
    onTrack(({ event, timestamp }) => ({ seen: event, at: Date.parse(timestamp) > 0 }));
    expect(preview('left', { secret: 'token', n: 1 })).toEqual({ release: '1', seen: 'left', at: true, n: 1 });
    await tracker.flush();
    expect(events()).toEqual([]);
    expect(tracker.stats().tracked).toBe(0);
  });

  it.each([
    ['drops the event', () => null],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
  ])('is missing if beforeSend %s', (_what, beforeSend) => {
    expect(toolsOf({ beforeSend }).preview('left', { n: 1 })).toBeUndefined();
  });
});

describe('a plugin', () => {
  it('starts with the tracker, and stop() undoes it once', async () => {
    const undo = vi.fn();
    const start = vi.fn<Plugin>(() => undo);
    const { tracker } = create({ plugins: [start, undefined, null, false] });
    expect(start).toHaveBeenCalledOnce();
    expect(start.mock.calls[0]?.[0]).toBe(tracker);
    expect(undo).not.toHaveBeenCalled();
    tracker.stop();
    tracker.stop();
    expect(undo).toHaveBeenCalledOnce();
  });

  it('that use() starts ends with the tracker, and does not start after it', () => {
    const undo = vi.fn();
    const { tracker } = create();
    tracker.use(() => undo);
    tracker.stop();
    expect(undo).toHaveBeenCalledOnce();
    const late = vi.fn<Plugin>(() => nothing);
    tracker.use(late);
    expect(late).not.toHaveBeenCalled();
  });

  it('that stops the tracker as it starts is undone', () => {
    const undo = vi.fn();
    const { tracker } = create();
    tracker.use(({ stop }) => {
      stop();
      return undo;
    });
    expect(undo).toHaveBeenCalledOnce();
  });

  it('that use() starts sees no event of an earlier call, also in a burst', async () => {
    const { tracker, events } = create();
    for (let n = 0; n < 60; n++) tracker.track('seen');
    tracker.use((_tracker, tools) => {
      tools.onTrack(() => ({ by: 'plugin' }));
      return nothing;
    });
    await tracker.flush();
    expect(events().filter(({ payload }) => payload)).toEqual([]);
    expect(events()).toHaveLength(60);
  });

  it('may track as it starts and as it ends', async () => {
    const { tracker, events } = create({
      plugins: [
        ({ track }) => {
          track('started');
          return () => track('ended');
        },
      ],
    });
    await tracker.flush();
    expect(events()).toMatchObject([{ event: 'started' }]);
    tracker.stop();
    expect(tracker.stats().tracked).toBe(2);
  });

  it('that throws is reported, and the others work', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const undo = vi.fn();
    const { tracker, errors } = create({ plugins: [broken, () => broken, () => undo] });
    expect(errors).toEqual(['clew: broken']);
    tracker.use('nothing' as never);
    expect(errors[1]).toContain('is not a function');
    tracker.stop();
    expect(undo).toHaveBeenCalledOnce();
    expect(errors).toHaveLength(2);
  });

  it.each([
    [7, '7'],
    [['x'], 'x'],
    [[{}], '[object Object]'],
  ])('%j throws an error that names what was expected', (plugins, given) => {
    expect(() => createTracker({ baseUrl: '/clew', plugins: plugins as never })).toThrow(
      new TypeError(`clew: plugins: expected a list of functions, not ${given}`),
    );
  });
});

describe('onTrack', () => {
  it('sees each event, adds properties that the event does not have, and drops on false', async () => {
    const { tracker, events, onTrack } = toolsOf({
      context: () => ({ release: '1.4.2', by: 'context' }),
      beforeSend: ({ event, payload }) => ({ event, payload: { ...Object(payload), isLast: true } }),
    });
    const seen: unknown[] = [];
    onTrack(({ event, payload }) => {
      seen.push([event, payload]);
      return event !== 'draft' && { by: 'plugin', plan: 'none' };
    });
    tracker.track('signup', { plan: 'pro' });
    tracker.track('draft');
    tracker.identify('customer-4711');
    await tracker.flush();
    expect(seen).toEqual([
      ['signup', { plan: 'pro' }],
      ['draft', undefined],
    ]);
    expect(events('signup')).toMatchObject([
      { payload: { plan: 'pro', by: 'plugin', release: '1.4.2', isLast: true } },
    ]);
    expect(events().map(({ event }) => event)).toEqual(['signup', '$identify']);
    expect(tracker.stats()).toMatchObject({ tracked: 3, delivered: 2, dropped: { filtered: 1 } });
  });

  it('costs no event if it throws or returns what JSON cannot express, and reports that', async () => {
    const { tracker, events, errors, onTrack } = toolsOf();
    onTrack(({ event }) => {
      if (event === 'first') throw new Error('broken');
      return { big: 1n };
    });
    tracker.track('first');
    tracker.track('second', { plan: 'pro' });
    await tracker.flush();
    expect(events().map(({ event, payload }) => [event, payload])).toEqual([
      ['first', undefined],
      ['second', { plan: 'pro' }],
    ]);
    expect(errors).toEqual(['clew: broken', expect.stringContaining('BigInt')]);
  });

  it('returns nothing, and the event stays as it is, byte for byte', async () => {
    const { tracker, events, onTrack } = toolsOf();
    onTrack(() => undefined);
    tracker.track('bare');
    tracker.track('list', [1]);
    await tracker.flush();
    expect(events().map((event) => ['payload' in event, event.payload])).toEqual([
      [false, undefined],
      [true, [1]],
    ]);
  });

  it('still sees events after stop()', async () => {
    const { tracker, onTrack } = toolsOf();
    onTrack(() => false);
    tracker.stop();
    tracker.track('late');
    expect(tracker.stats().dropped).toEqual({ filtered: 1 });
  });
});

describe.each(['local', 'session'] as const)("a plugin's storage, %s", (name) => {
  const other: Record<string, PluginStorage> = {};
  const open = (options?: Partial<TrackerOptions>) => {
    const test = toolsOf(options);
    other.storage = test[name];
    return { ...test, storage: test[name] };
  };

  it('keeps values for the next page', () => {
    const { storage, store } = open();
    expect(storage.get('copies')).toBeUndefined();
    expect(storage.set('copies', { count: 0 })).toBe(true);
    expect(storage.set('other', false)).toBe(true);
    const next = open({ store });
    expect(next.storage.get('copies')).toEqual({ count: 0 });
    expect(next.storage.get('other')).toBe(false);
    next.storage.set('copies', undefined);
    expect(storage.get('copies')).toBeUndefined();
  });

  it('stores nothing before consent and after a refusal, and a refusal erases it', () => {
    const { tracker, storage, store } = open({ consent: 'required' });
    const before = JSON.stringify([store.local, sessionStorage]);
    expect(storage.set('copies', 1)).toBe(false);
    expect(JSON.stringify([store.local, sessionStorage])).toBe(before);
    tracker.consent(true);
    expect(storage.set('copies', 2)).toBe(true);
    expect(JSON.stringify([store.local, sessionStorage])).toContain('copies');
    tracker.consent(false);
    expect(JSON.stringify([store.local, sessionStorage])).not.toContain('copies');
    expect(storage.set('copies', 3)).toBe(false);
    expect(storage.get('copies')).toBeUndefined();
  });

  it('is empty where other code has written something else', () => {
    const { storage, store } = open();
    for (const rubbish of ['', '{', '7', '"text"', '[1]', 'null']) {
      if (name === 'local') Object.assign(store.local ?? {}, { 'clew.plugins': rubbish });
      else sessionStorage['clew.visit'] = rubbish;
      expect(storage.get('copies')).toBeUndefined();
      expect(storage.set('copies', 1)).toBe(true);
      expect(storage.get('copies')).toBe(1);
    }
  });

  it('returns false for what JSON cannot express, and keeps what it has', () => {
    const { storage } = open();
    storage.set('copies', 1);
    expect(storage.set('copies', 1n)).toBe(false);
    expect(storage.get('copies')).toBe(1);
  });
});
