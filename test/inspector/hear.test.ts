import { describe, expect, it } from 'vitest';
import type { DropReason, Trace } from '../../src/api/signals.ts';
import type { Transport } from '../../src/index.ts';
import { type Model, newModel } from '../../src/inspector/model.ts';
import { MOST_REQUESTS } from '../../src/inspector/requests.ts';
import { count, MOST_EVENTS, update } from '../../src/inspector/update.ts';
import { BATCH_PATH, UPSERT_PATH, type WireEvent } from '../../src/wire.ts';
import { start } from '../tracker/page.ts';

const VISITOR_ID = '7d0c8c5e-3a4e-4f0e-9a53-3f6a5f0f6a11';

const eventOf = (uuid: string, more: Partial<WireEvent> = {}): Partial<WireEvent> => ({
  uuid,
  event: 'signup',
  payload: { plan: 'pro' },
  ...more,
});

/** Passes reports to a model as a tracker does, one ms apart. */
const stage = (model: Model = newModel(1000)) => {
  let now = 1000;
  const tell = (trace: Trace) => update(model, ++now, 'trace', trace);
  return {
    model,
    now: () => now,
    wait: (ms: number) => {
      now += ms;
    },
    tell,
    track: (uuid: string, more?: Partial<WireEvent>) => tell({ step: 'tracked', event: eventOf(uuid, more) }),
    store: (...uuids: string[]) => tell({ step: 'stored', uuids }),
    send: (uuids: string[], more: Partial<Extract<Trace, { step: 'sent' }>> = {}) =>
      tell({ step: 'sent', uuids, path: BATCH_PATH, bytes: 100, leaving: false, ...more }),
    answer: (uuids: string[], more: Partial<Extract<Trace, { step: 'answered' }>> = {}) =>
      tell({ step: 'answered', uuids, outcome: 'delivered', status: 200, ...more }),
    deliver: (...uuids: string[]) =>
      update(model, ++now, 'delivered', {
        events: uuids.map((uuid) => eventOf(uuid, { correlationValue: VISITOR_ID }) as WireEvent),
      }),
    drop: (uuid: string, reason: DropReason) => update(model, ++now, 'dropped', { events: [eventOf(uuid)], reason }),
    event: (uuid: string) => model.events.get(uuid),
  };
};

const sumOf = ({ stats }: Model) =>
  stats.delivered + stats.queued + Object.values(stats.dropped).reduce((sum, dropped) => sum + dropped, 0);

describe('an event', () => {
  it('has its payload, its end and the time of each step', () => {
    const { track, store, send, answer, deliver, event } = stage();
    track('a');
    store('a');
    send(['a']);
    answer(['a']);
    deliver('a');
    expect(event('a')).toMatchObject({
      name: 'signup',
      payload: { plan: 'pro' },
      visitorId: VISITOR_ID,
      isTracked: true,
      trackedAt: 1001,
      storedAt: 1002,
      sentAt: 1003,
      endedAt: 1005,
      end: 'delivered',
      requests: [1],
    });
  });

  it('was tracked at the time of the call, not of the trace', () => {
    const { track, event } = stage();
    track('a', { timestamp: new Date(500).toISOString() });
    expect(event('a')?.trackedAt).toBe(500);
  });

  it('keeps the times of its first storing and its last request', () => {
    const { track, store, send, event } = stage();
    track('a');
    store('a');
    send(['a']);
    store('a');
    send(['a']);
    expect(event('a')).toMatchObject({ storedAt: 1002, sentAt: 1005, requests: [1, 2] });
  });

  it('that is dropped has the reason and the answer of the relay', () => {
    const { track, send, answer, drop, event } = stage();
    track('a');
    send(['a']);
    answer(['a'], { rejected: [{ uuid: 'a', reason: 'payload: too deep' }] });
    drop('a', 'rejected');
    expect(event('a')).toMatchObject({ end: 'rejected', why: 'payload: too deep' });
  });

  it('that is rejected alone has the answer of the service', () => {
    const { track, send, answer, event } = stage();
    track('a');
    send(['a']);
    answer(['a'], { outcome: 'rejected', status: 400, message: '400 bad' });
    expect(event('a')?.why).toBe('400 bad');
  });

  it('that is delivered after a rejection has no reason', () => {
    const { track, send, answer, deliver, event } = stage();
    track('a');
    send(['a']);
    answer(['a'], { outcome: 'rejected', status: 400, message: '400 bad' });
    send(['a']);
    answer(['a']);
    deliver('a');
    expect(event('a')).toMatchObject({ end: 'delivered', why: undefined, requests: [1, 2] });
  });

  it('without a traced call is known from its end, by the last answered request', () => {
    const { send, answer, deliver, event, model } = stage();
    send(['a', 'b']);
    answer(['a', 'b']);
    deliver('a');
    expect(event('a')).toMatchObject({ name: 'signup', sentAt: 1001, requests: [1], end: 'delivered' });
    expect(event('a')?.isTracked).toBeUndefined();
    expect(model.events.has('b')).toBe(false);
  });

  it('that another tab has sent is confirmed without a request of this tab', () => {
    const { track, store, deliver, event } = stage();
    track('a');
    store('a');
    deliver('a');
    expect(event('a')).toMatchObject({ end: 'delivered', requests: [] });
    expect(event('a')?.sentAt).toBeUndefined();
  });
});

it('an event, a request and the model inherit nothing from a page that adds to `Object.prototype`', () => {
  const additions = { end: 'delivered', visitor: { visitorId: 'none' }, retryAt: 9e15, outcome: 'failed' };
  Object.assign(Object.prototype, additions);
  try {
    const { model, track, send, event } = stage();
    track('a');
    send(['a']);
    const { end } = event('a') ?? {};
    const { retryAt, outcome } = model.requests.list[0] ?? {};
    expect([end, retryAt, outcome, model.visitor]).toEqual([undefined, undefined, undefined, undefined]);
  } finally {
    for (const name of Object.keys(additions)) Reflect.deleteProperty(Object.prototype, name);
  }
});

describe('an upsert', () => {
  it('is confirmed by the answer, since no signal reports its end', () => {
    const { store, send, answer, event, model } = stage();
    store('u');
    send(['u'], { path: UPSERT_PATH });
    answer(['u']);
    expect(event('u')).toMatchObject({ name: 'setProperties', end: 'delivered' });
    expect(model.stats).toEqual({ tracked: 0, delivered: 0, queued: 0, dropped: {} });
  });

  const rejected = () => {
    const played = stage();
    played.store('u');
    played.send(['u'], { path: UPSERT_PATH });
    played.answer(['u'], { outcome: 'rejected', status: 422, message: '422 no such property' });
    const link = (by: string, until: number) => played.tell({ step: 'link', tab: 'me', by, until, fails: 0, okAt: 0 });
    return { ...played, link };
  };

  it('is rejected if the queue is empty after its rejection', () => {
    const { link, event, now } = rejected();
    link('me', now() + 22_000);
    expect(event('u')?.end).toBeUndefined();
    link('', 0);
    expect(event('u')).toMatchObject({ end: 'rejected', endedAt: now(), why: '422 no such property' });
  });

  it('is confirmed if a retry succeeds after its rejection', () => {
    const { link, send, answer, event, now } = rejected();
    link('me', now() + 22_000);
    send(['u'], { path: UPSERT_PATH });
    answer(['u']);
    link('', 0);
    expect(event('u')?.end).toBe('delivered');
  });

  it('stays queued if a back-off follows its rejection', () => {
    const { link, event, now } = rejected();
    link('', now() + 1000);
    link('', 0);
    expect(event('u')?.end).toBeUndefined();
  });

  it('of a tracker is rejected when the service answers 422', async () => {
    const transport: Transport = async ({ url }) =>
      url.endsWith(UPSERT_PATH) ? { outcome: 'rejected', status: 422 } : { outcome: 'delivered', status: 200 };
    const { tracker } = start({ transport });
    const model = newModel(0);
    tracker.on('trace', (trace) => update(model, 1, 'trace', trace));
    tracker.identify('ann', { plan: 'pro' });
    await tracker.flush();
    const upsert = [...model.events.values()].find(({ name }) => name === 'setProperties');
    expect(upsert?.end).toBe('rejected');
  });
});

describe('a request', () => {
  it('has its size, its answer and the number of events not seen here', () => {
    const { model, track, send, answer } = stage();
    track('a');
    send(['a', 'other'], { gzip: 40 });
    answer(['a', 'other'], { status: 201, message: '201 ' });
    expect(model.requests.list).toEqual([
      {
        number: 1,
        sentAt: 1002,
        path: BATCH_PATH,
        size: 2,
        strangers: 1,
        bytes: 100,
        gzip: 40,
        leaving: false,
        answeredAt: 1003,
        outcome: 'delivered',
        status: 201,
        message: '201 ',
      },
    ]);
  });

  const failing = () => {
    const played = stage();
    played.track('a');
    played.send(['a']);
    played.answer(['a'], { outcome: 'failed', status: 503, retryAfter: 2000 });
    const until = played.now() + 2000;
    played.tell({ step: 'link', tab: 'me', by: '', until, fails: 1, okAt: 0 });
    return { ...played, until, first: played.model.requests.list[0] };
  };

  it('that failed shows the time of its retry', () => {
    const { first, until } = failing();
    expect(first).toMatchObject({ outcome: 'failed', retryAfter: 2000, retryAt: until });
  });

  it('that was retried earlier than planned shows it', () => {
    const { first, send, now } = failing();
    send(['a']);
    expect(first?.retryAt).toBe(now());
  });

  it('that was answered is not changed by a later back-off', () => {
    const { model, send, answer, tell } = stage();
    send(['a']);
    answer(['a']);
    tell({ step: 'link', tab: 'me', by: '', until: 9000, fails: 1, okAt: 0 });
    expect(model.requests.list[0]?.retryAt).toBeUndefined();
  });

  it('of a page that unloads gets its answer from a later page', () => {
    const { model, send, answer } = stage();
    send(['a', 'b'], { leaving: true });
    send(['c']);
    answer(['a', 'b'], { status: undefined });
    expect(model.requests.list.map(({ outcome }) => outcome)).toEqual(['delivered', undefined]);
  });

  it('of a page that unloads leaves the answer to the retry of its events', () => {
    const { model, send, answer } = stage();
    send(['a'], { leaving: true });
    send(['a']);
    answer(['a']);
    expect(model.requests.list.map(({ outcome }) => outcome)).toEqual([undefined, 'delivered']);
  });

  it('shows the message of an error with which the transport rejected', () => {
    const { model, send, answer } = stage();
    send(['a']);
    answer(['a'], { outcome: 'failed', message: new TypeError('Failed to fetch') as unknown as string });
    expect(model.requests.list[0]?.message).toBe('TypeError: Failed to fetch');
  });

  it('that was never traced changes nothing by its answer', () => {
    const { model, answer } = stage();
    answer(['a'], { outcome: 'failed' });
    expect(model.requests.list).toEqual([]);
  });
});

describe('the totals', () => {
  it('add up after each step', () => {
    const { model, track, send, answer, deliver, drop } = stage();
    const steps = [
      () => track('a'),
      () => track('b'),
      () => drop('b', 'full'),
      () => send(['a']),
      () => answer(['a']),
      () => deliver('a'),
    ];
    for (const step of steps) {
      step();
      expect(sumOf(model)).toBe(model.stats.tracked);
    }
    expect(model.stats).toEqual({ tracked: 2, delivered: 1, queued: 0, dropped: { full: 1 } });
  });

  it('are those of stats(), with the number of earlier events', () => {
    const { model, track } = stage();
    const stats = { tracked: 7, delivered: 5, queued: 1, dropped: { full: 1 } };
    count(model, 1000, stats);
    track('a');
    expect(model.stats).toEqual({ ...stats, tracked: 8, queued: 2 });
    expect(model.before).toBe(7);
    expect(stats.queued).toBe(1);
  });

  it('count on when old events and requests are discarded', () => {
    const { model, track, send, deliver } = stage();
    const uuids = Array.from({ length: MOST_EVENTS + 500 }, (_, n) => `${n}`);
    for (const uuid of uuids) track(uuid);
    for (const uuid of uuids.slice(0, MOST_REQUESTS + 5)) send([uuid]);
    deliver(...uuids);
    expect(model.stats).toEqual({ tracked: 1500, delivered: 1500, queued: 0, dropped: {} });
    expect([model.events.size, model.forgotten, model.waiting.size]).toEqual([MOST_EVENTS, 500, 0]);
    expect(model.events.has('499')).toBe(false);
    expect([model.requests.list.length, model.requests.count]).toEqual([MOST_REQUESTS, MOST_REQUESTS + 5]);
    expect(model.requests.open.size).toBe(MOST_REQUESTS);
  });
});

describe('events that the totals do not count as queued any more', () => {
  const away = (queued: number, tracked = 3) => {
    const played = stage();
    const { model, now, track, store } = played;
    for (const uuid of ['a', 'b', 'c']) track(uuid);
    store('a', 'b');
    const stats = { tracked, delivered: tracked - queued, queued, dropped: {} };
    const look = () => count(model, now(), stats);
    return { ...played, look, ends: () => ['a', 'b', 'c'].map((uuid) => model.events.get(uuid)?.end) };
  };

  it('were confirmed by another page, and wait no longer', () => {
    const { model, look, ends, event } = away(0);
    look();
    look();
    expect(ends()).toEqual(['delivered', 'delivered', 'delivered']);
    expect(event('a')).toMatchObject({ isCounted: true, endedAt: 1004 });
    expect(model.waiting.size).toBe(0);
  });

  it('are the oldest of those in the store and in no request', () => {
    const { look, ends, send } = away(2);
    send(['a']);
    look();
    look();
    expect(ends()).toEqual([undefined, 'delivered', undefined]);
  });

  it('may still get their signals after the first look', () => {
    const { model, look, event, drop, ends } = away(0);
    look();
    for (const uuid of ['a', 'b', 'c']) drop(uuid, 'full');
    look();
    look();
    expect(ends()).toEqual(['full', 'full', 'full']);
    expect([event('a')?.isCounted, model.surplus]).toEqual([undefined, 0]);
  });

  it('have the end of a later signal', () => {
    const { look, drop, event } = away(0);
    look();
    look();
    drop('a', 'rejected');
    expect(event('a')).toMatchObject({ end: 'rejected', isCounted: undefined });
  });

  it('were dropped if the visitor has refused', () => {
    const { look, tell, ends } = away(0);
    tell({ step: 'visitor', visitorId: undefined });
    look();
    look();
    expect(ends()).toEqual(['consent', 'consent', 'consent']);
  });

  it('are none while all are queued', () => {
    const { look, ends } = away(3);
    look();
    look();
    expect(ends()).toEqual([undefined, undefined, undefined]);
  });
});

describe('the visitor', () => {
  it('is the one of the trace, and none after a refusal', () => {
    const { model, tell } = stage();
    tell({ step: 'visitor', visitorId: VISITOR_ID, primaryKey: 'ann' });
    expect(model.visitor).toEqual({ visitorId: VISITOR_ID, primaryKey: 'ann', isReported: true });
    tell({ step: 'visitor', visitorId: undefined });
    expect(model.visitor).toEqual({ visitorId: undefined, isReported: true });
  });

  it('is not learned from an event tracked before the inspector opened', () => {
    const { model, deliver } = stage();
    deliver('a');
    expect(model.visitor).toBeUndefined();
  });

  it('is learned from delivered events if the inspector opens late, with the key from $identify', () => {
    const { model, track, deliver } = stage();
    for (const uuid of ['a', 'i', 'b']) track(uuid);
    deliver('a');
    expect(model.visitor).toEqual({ visitorId: VISITOR_ID, isReported: false });
    const identify = eventOf('i', {
      event: '$identify',
      payload: { distinct_id: 'ann' },
      correlationValue: VISITOR_ID,
    });
    update(model, 2000, 'delivered', { events: [identify as WireEvent] });
    deliver('b');
    expect(model.visitor).toEqual({ visitorId: VISITOR_ID, primaryKey: 'ann', isReported: false });
  });
});

it('the last errors are kept with their times', () => {
  const { model } = stage();
  for (let n = 0; n < 60; n++) update(model, n, 'error', new Error(`clew: ${n}`));
  expect(model.errors).toHaveLength(50);
  expect(model.errors.at(-1)).toEqual({ at: 59, message: 'clew: 59' });
});
