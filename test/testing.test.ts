// @module-tag promise

import * as v from 'valibot';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkEvents, createTracker, type Plugin, type TrackerOptions } from '../src/index.ts';
import { createMemoryStore, createTestTracker, createTestTransport } from '../src/testing.ts';

interface Events {
  signup: { plan: 'free' | 'pro' };
  'cart viewed': undefined;
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.unstubAllGlobals();
});

/** A tracker that stops when the test ends, with the errors and drops that it reports. */
const create = (options?: Partial<TrackerOptions>) => {
  const test = createTestTracker<Events>(options);
  const errors: string[] = [];
  const dropped: unknown[] = [];
  test.tracker.on('error', ({ message }) => errors.push(message));
  test.tracker.on('dropped', ({ events, reason }) => dropped.push([events[0]?.event, reason, events[0]?.payload]));
  stops.push(test.tracker.stop);
  return { ...test, errors, dropped };
};

describe('a test tracker, without a browser', () => {
  it('delivers events in order', async () => {
    const { tracker, events } = create();
    tracker.track('signup', { plan: 'pro' });
    tracker.identify('ann@example.com', { plan: 'pro' });
    tracker.track('cart viewed');
    expect(events()).toEqual([]);
    await tracker.flush();
    const correlationValue = await tracker.correlationValue();
    expect(events()).toMatchObject([
      { event: 'signup', payload: { plan: 'pro' }, correlationValue },
      { event: '$identify', payload: { distinct_id: 'ann@example.com' } },
      { event: 'cart viewed' },
    ]);
    expect(events('cart viewed')).toHaveLength(1);
    expect(tracker.stats()).toEqual({ tracked: 3, delivered: 3, queued: 0, dropped: {} });
  });

  it('sends single events and customer properties', async () => {
    const { tracker, events, upserts } = create();
    tracker.identify('ann@example.com', { plan: 'pro' });
    await tracker.trackNow('signup', { plan: 'pro' });
    await tracker.flush();
    expect(events().map(({ event }) => event)).toEqual(['$identify', 'signup']);
    expect(upserts()).toMatchObject([{ primary_key: 'ann@example.com', properties: { plan: 'pro' } }]);
  });

  it.each([undefined, 503])(
    'keeps events after %s, and sends them once when the service works again',
    async (status) => {
      const { tracker, events, requests, fail, recover } = create();
      await tracker.flush();
      fail(status);
      tracker.track('signup', { plan: 'pro' });
      await tracker.flush();
      expect(requests).toHaveLength(1);
      expect(events()).toEqual([]);
      expect(tracker.stats()).toMatchObject({ queued: 1, delivered: 0 });
      recover();
      await tracker.flush();
      expect(events()).toHaveLength(1);
      expect(tracker.stats()).toMatchObject({ queued: 0, delivered: 1 });
    },
  );

  it('reads visitor and events of an earlier tracker from the same store only', async () => {
    const store = createMemoryStore();
    const first = create({ baseUrl: '/first', store });
    const visitorId = await first.tracker.correlationValue();
    first.fail();
    first.tracker.track('cart viewed');
    await first.tracker.flush();
    first.tracker.stop();
    const second = create({ baseUrl: '/first', store });
    expect(await second.tracker.correlationValue()).toBe(visitorId);
    await second.tracker.flush();
    expect(second.events()).toMatchObject([{ event: 'cart viewed', correlationValue: visitorId }]);
    expect(await create().tracker.correlationValue()).not.toBe(visitorId);
  });

  it.each([undefined, '/clew'])(
    'has another visitor id than the one before in a page, with baseUrl %s',
    async (baseUrl) => {
      vi.stubGlobal('localStorage', {});
      const ids = new Set<string>();
      for (const { tracker } of [{ baseUrl }, { baseUrl }].map((options) => create(options as object))) {
        ids.add(await tracker.correlationValue());
        tracker.stop();
      }
      expect(ids.size).toBe(2);
      expect(localStorage).toEqual({});
    },
  );

  it('keeps its visitor id while another one in the page changes its own', async () => {
    vi.stubGlobal('localStorage', {});
    const [one, other] = [create(), create()];
    const visitorId = await other.tracker.correlationValue();
    await one.tracker.correlationValue();
    one.tracker.identify('ann@example.com');
    one.tracker.reset();
    other.tracker.track('cart viewed');
    await other.tracker.flush();
    expect(other.events()).toMatchObject([{ correlationValue: visitorId }]);
  });

  it('gives its calls to the next tracker of its store if it stops early', async () => {
    const store = createMemoryStore();
    const first = create({ baseUrl: '/clew', store });
    first.fail();
    first.tracker.track('cart viewed');
    first.tracker.stop();
    const second = create({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.events()).toMatchObject([{ event: 'cart viewed' }]);
  });

  it('leaves nothing in its store after a refusal in the task of a change', async () => {
    const store = createMemoryStore();
    const { tracker } = create({ baseUrl: '/clew', store });
    const visitorId = await tracker.correlationValue();
    tracker.identify('ann@example.com');
    tracker.consent(false);
    await tracker.flush();
    expect(await store.transact([], 'visitor', (old) => ({ old }))).toEqual({ old: undefined });
    expect(await store.read('/clew')).toEqual([]);
    expect(await create({ baseUrl: '/clew', store }).tracker.correlationValue()).not.toBe(visitorId);
  });

  it('exchanges no messages with another one', async () => {
    const [one, other] = [create(), create()];
    const visitorId = await other.tracker.correlationValue();
    await one.tracker.correlationValue();
    one.tracker.reset();
    one.tracker.consent(false);
    await one.tracker.flush();
    expect(await other.tracker.correlationValue()).toBe(visitorId);
  });

  it('begins in a new tab, unless it has the store of an earlier one', async () => {
    vi.stubGlobal('sessionStorage', {});
    const keep = (given: unknown[], value?: string): Plugin => {
      return (_tracker, { session }) => {
        given.push(session.get('campaign'));
        if (value) session.set('campaign', value);
        return () => {};
      };
    };
    const given: unknown[] = [];
    const first = create();
    await first.tracker.correlationValue();
    first.tracker.use(keep(given, 'news'));
    create({ store: first.store, plugins: [keep(given)] });
    create({ plugins: [keep(given)] });
    expect(given).toEqual([undefined, 'news', undefined]);
  });

  it('tracks views with the given fields, and reports missing ones', async () => {
    const { tracker, events, errors } = create();
    tracker.page({ path: '/shoes' });
    await tracker.flush();
    expect(events()).toMatchObject([{ event: 'page_view', payload: { path: '/shoes' } }]);
    expect(errors).toEqual([expect.stringContaining('location')]);
  });

  it.each([['Checkout'], [['Checkout']], [5]])(
    'tracks a view although its fields are %j, and reports them',
    async (fields) => {
      const { tracker, events, errors } = create();
      tracker.page(fields as never);
      await tracker.flush();
      expect(events()).toMatchObject([{ event: 'page_view', payload: {} }]);
      expect(errors).toContain('clew: page: expected an object');
    },
  );

  it('refuses invalid options', () => {
    expect(() => create({ flushInterval: 0 })).toThrow(TypeError);
    expect(() => create({ beforeSend: 'redactUrls' as never })).toThrow('beforeSend: expected a function');
  });

  it('takes undefined options as their defaults', async () => {
    const { tracker, requests } = create({ baseUrl: undefined, compress: undefined, store: undefined } as object);
    tracker.track('cart viewed');
    await tracker.flush();
    expect(requests).toMatchObject([{ body: expect.stringContaining('cart viewed') }]);
  });

  it('reads gzip requests as JSON', async () => {
    const { tracker, events } = create({ compress: true });
    tracker.track('cart viewed');
    await tracker.flush();
    expect(events()).toHaveLength(1);
  });
});

it('a test transport has no requests of a tracker on a server', async () => {
  const { transport, requests } = createTestTransport();
  const tracker = createTracker({ baseUrl: '/clew', transport });
  tracker.track('signup');
  await tracker.flush();
  expect(requests).toEqual([]);
});

describe('beforeSend and context, in a tracker', () => {
  it('run for every event but $identify, context first', async () => {
    const seen: unknown[] = [];
    const { tracker, events } = create({
      context: () => ({ release: '1' }),
      beforeSend(event) {
        seen.push(event);
        return { ...event, event: `shop ${event.event}` };
      },
    });
    tracker.track('signup', { plan: 'pro' });
    tracker.identify('ann@example.com');
    await tracker.trackNow('cart viewed');
    await tracker.flush();
    expect(seen).toEqual([
      { event: 'signup', payload: { release: '1', plan: 'pro' } },
      { event: 'cart viewed', payload: { release: '1' } },
    ]);
    expect(events().map(({ event }) => event)).toEqual(['shop signup', '$identify', 'shop cart viewed']);
  });

  it('checkEvents checks the payload without the properties of context', async () => {
    const faults: string[] = [];
    const schemas = { signup: v.strictObject({ plan: v.string() }), 'cart viewed': v.undefined() };
    const { tracker, events } = create({
      context: () => ({ release: '1', plan: 'none' }),
      beforeSend: checkEvents(schemas, (fault) => faults.push(fault)),
    });
    tracker.track('signup', { plan: 'pro' });
    tracker.track('cart viewed');
    expect(faults).toEqual([]);
    tracker.track('signup', {} as never);
    expect(faults).toEqual([expect.stringContaining('payload.plan')]);
    await tracker.flush();
    expect(events('signup')[0]?.payload).toEqual({ release: '1', plan: 'pro' });
  });

  it('beforeSend gets a copy of the payload that was passed', async () => {
    const { tracker, events } = create({
      context: () => ({ release: '1' }),
      beforeSend(event, passed) {
        Object.assign(passed() as object, { plan: 'changed' });
        return { ...event, payload: { before: passed(), after: event.payload } };
      },
    });
    tracker.track('signup', { plan: 'pro' });
    await tracker.flush();
    expect(events()[0]?.payload).toEqual({ before: { plan: 'pro' }, after: { release: '1', plan: 'pro' } });
  });

  it('a dropped event is reported by name, never stored, and counted', async () => {
    const { tracker, events, dropped, errors, store } = create({
      beforeSend: (event) => (event.event === 'signup' ? null : event),
    });
    const written = vi.spyOn(store, 'transact');
    tracker.track('signup', { plan: 'pro' });
    tracker.track('cart viewed');
    await tracker.flush();
    expect(events().map(({ event }) => event)).toEqual(['cart viewed']);
    expect(dropped).toEqual([['signup', 'filtered', undefined]]);
    expect(errors).toEqual([]);
    expect(JSON.stringify(written.mock.calls)).not.toContain('signup');
    expect(tracker.stats()).toEqual({ tracked: 2, delivered: 1, queued: 0, dropped: { filtered: 1 } });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['returns a promise', async () => ({ event: 'later' })],
    ['makes it $identify', () => ({ event: '$identify', payload: { distinct_id: 'bob' } })],
    ['makes it nothing that JSON can express', () => ({ event: 'signup', payload: 1n })],
  ])('an event is dropped and reported if beforeSend %s', async (_, beforeSend) => {
    const { tracker, events, dropped, errors } = create({ beforeSend: beforeSend as never });
    expect(() => tracker.track('signup', { plan: 'pro' })).not.toThrow();
    await tracker.flush();
    expect(events()).toEqual([]);
    expect(dropped).toEqual([['signup', 'filtered', undefined]]);
    expect(errors).toHaveLength(1);
  });

  it('a context that throws is reported for each event, which is sent without it', async () => {
    const { tracker, events, errors } = create({
      context() {
        throw new Error('broken');
      },
    });
    tracker.track('signup', { plan: 'pro' });
    tracker.track('cart viewed');
    await tracker.flush();
    expect(events().map(({ payload }) => payload)).toEqual([{ plan: 'pro' }, undefined]);
    expect(errors).toEqual(['clew: broken', 'clew: broken']);
  });

  it('an invalid name or payload is dropped before context and beforeSend run', () => {
    const asked = vi.fn();
    const { tracker, dropped } = create({ context: asked, beforeSend: asked });
    tracker.track('' as 'signup', { plan: 'pro' });
    tracker.track('signup', 1n as never);
    expect(dropped.map((one) => (one as unknown[])[1])).toEqual(['rejected', 'unserialisable']);
    expect(asked).not.toHaveBeenCalled();
  });
});

describe('consent, in a tracker', () => {
  it('required: events are held until consent, and the store is not used', async () => {
    const { tracker, events, store, requests } = create({ consent: 'required' });
    const written = vi.spyOn(store, 'transact');
    tracker.track('cart viewed');
    await tracker.flush();
    expect([written.mock.calls, requests]).toEqual([[], []]);
    expect(tracker.stats()).toMatchObject({ queued: 1 });
    tracker.consent(true);
    await tracker.flush();
    expect(events()).toHaveLength(1);
  });

  it('refused: held events and all later ones are dropped', async () => {
    const { tracker, events } = create();
    tracker.track('cart viewed');
    tracker.consent(false);
    tracker.track('cart viewed');
    await tracker.flush();
    expect(tracker.stats()).toEqual({ tracked: 2, delivered: 0, queued: 0, dropped: { consent: 2 } });
    expect(events()).toEqual([]);
  });

  it('refused while a request is prepared: the request is not sent', async () => {
    const { tracker, requests, store } = create({ baseUrl: '/refused' });
    await tracker.flush();
    const { transact } = store;
    vi.spyOn(store, 'transact').mockImplementation((entries, name, change, query) =>
      transact(entries, name, change, (old) => {
        const asked = query?.(old as never);
        if (asked) tracker.consent(false);
        return asked;
      }),
    );
    tracker.track('cart viewed');
    await tracker.flush();
    expect(requests).toEqual([]);
    expect(tracker.stats()).toMatchObject({ dropped: { consent: 1 } });
    expect(await store.read('/refused')).toEqual([]);
  });

  it('consent() accepts only true and false', async () => {
    const { tracker, errors, requests } = create({ consent: 'required' });
    tracker.track('cart viewed');
    for (const answer of ['denied', undefined, 1, null]) tracker.consent(answer as never);
    await tracker.flush();
    expect(requests).toEqual([]);
    expect(errors).toEqual(Array(4).fill('clew: consent: expected a boolean'));
  });

  it.each([
    [true, true, 0],
    [true, false, 1],
    [true, undefined, 1],
    [false, true, 1],
  ])('respectGpc %s and a signal of %s: %i events arrive', async (respectGpc, globalPrivacyControl, count) => {
    vi.stubGlobal('navigator', { globalPrivacyControl });
    const { tracker, events } = create({ respectGpc });
    tracker.track('cart viewed');
    await tracker.flush();
    expect(events()).toHaveLength(count);
    expect(tracker.stats().dropped).toEqual(count ? {} : { consent: 1 });
  });
});

it.each([401, 403, 404, 405, 410, 999])(
  'after `fail(%i)`, only another tracker of the store ends the pause',
  async (status) => {
    const first = createTestTracker({ baseUrl: '/clew' });
    first.fail(status);
    first.tracker.track('signup');
    await first.tracker.flush();
    first.recover();
    await first.tracker.flush();
    expect(first.events()).toEqual([]);
    const second = createTestTracker({ baseUrl: '/clew', store: first.store });
    await second.tracker.flush();
    expect(second.events('signup')).toHaveLength(1);
    first.tracker.stop();
    second.tracker.stop();
  },
);
