// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Answer, TransportRequest } from '../../src/index.ts';
import { makeListsText } from '../support/oldLibrary.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

describe('a page that unloads', () => {
  it('hands over the queue within the event', async () => {
    const page = openPage();
    const { tracker, requests, names } = start();
    await tracker.flush();
    tracker.track('seen');
    page.leave();
    expect(requests.map(({ leaving }) => leaving)).toEqual([true]);
    await settle();
    expect(names()).toEqual(['seen']);
  });

  it('records a burst before it hands over', async () => {
    const page = openPage();
    const { tracker, names } = start();
    await tracker.flush();
    for (let i = 0; i < 150; i++) tracker.track('seen');
    page.leave();
    await settle();
    expect(names()).toHaveLength(150);
  });

  it('hands over all properties of a customer in one request, the later ones last', async () => {
    connectTabs();
    const page = openPage();
    const { tracker, requests, upserts } = start();
    tracker.identify('ann');
    await tracker.flush();
    const before = requests.length;
    tracker.setProperties({ plan: 'free', city: 'Bonn' });
    tracker.track('between');
    tracker.setProperties({ plan: 'pro', joined: null });
    page.leave();
    await settle();
    expect(requests.slice(before).map(({ leaving }) => leaving)).toEqual([true, true]);
    expect(upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro', city: 'Bonn', joined: null } }]);
  });

  it('hands over no properties while older ones are unanswered', async () => {
    const page = openPage();
    const bodies: unknown[] = [];
    const transport = ({ url, body, leaving }: TransportRequest): Promise<Answer> => {
      const isUpsert = url.includes('/customers/upsert');
      if (isUpsert) bodies.push(JSON.parse(`${body}`).properties);
      return isUpsert && !leaving ? new Promise(() => {}) : Promise.resolve({ outcome: 'delivered' });
    };
    const { tracker } = start({ transport, compress: false });
    tracker.identify('ann');
    await tracker.flush();
    tracker.setProperties({ plan: 'free' });
    tracker.flush();
    await settle();
    expect(bodies).toEqual([{ plan: 'free' }]);
    tracker.setProperties({ plan: 'pro' });
    page.leave();
    await settle();
    expect(bodies).toEqual([{ plan: 'free' }]);
  });

  it('hands nothing over while offline, and keeps the queue for the next page', async () => {
    const store = createMemoryStore();
    const page = openPage();
    const first = start({ baseUrl: '/clew', store });
    await first.tracker.flush();
    page.navigator.onLine = false;
    first.tracker.track('seen');
    page.leave();
    await settle();
    expect(first.requests).toEqual([]);
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.names()).toEqual(['seen']);
  });

  it('keeps the events that the browser refuses for the next page', async () => {
    const store = createMemoryStore();
    const page = openPage();
    const first = start({ baseUrl: '/clew', store });
    await first.tracker.flush();
    first.fail();
    first.tracker.track('seen');
    page.leave();
    await settle();
    expect(first.requests.map(({ leaving }) => leaving)).toEqual([true]);
    expect(first.names()).toEqual([]);
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.names()).toEqual(['seen']);
  });

  it('hands over later events at once', async () => {
    const page = openPage();
    const { tracker, requests, names } = start();
    await tracker.flush();
    page.leave();
    tracker.track('late');
    await settle();
    expect(requests.map(({ leaving }) => leaving)).toEqual([true]);
    expect(names()).toEqual(['late']);
  });

  it('before its store has opened keeps its events in localStorage for the next page', async () => {
    const store = createMemoryStore();
    const waiting = { ...store, transact: () => new Promise<undefined>(() => {}) };
    const page = openPage();
    page.navigator.onLine = false;
    const first = start({ baseUrl: '/clew', store: waiting });
    first.tracker.track('early');
    page.leave();
    await vi.advanceTimersByTimeAsync(1000);
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.names()).toEqual(['early']);
    expect(Object.keys(localStorage).filter((key) => key.startsWith('clew.items'))).toEqual([]);
  });

  it('leaves visitor id and identification to the next page', async () => {
    const store = createMemoryStore();
    const waiting = { ...store, transact: () => new Promise<undefined>(() => {}) };
    const page = openPage();
    page.navigator.onLine = false;
    const first = start({ baseUrl: '/clew', store: waiting });
    first.tracker.identify('ann');
    first.tracker.track('early');
    page.leave();
    await vi.advanceTimersByTimeAsync(1000);
    openPage();
    const second = start({ baseUrl: '/clew', store });
    second.tracker.identify('ann');
    second.tracker.track('later');
    await second.tracker.flush();
    expect(second.names().sort()).toEqual(['$identify', 'early', 'later']);
    expect(new Set(second.events().map(({ correlationValue }) => correlationValue)).size).toBe(1);
  });

  it('sends again when it returns, with the visitor id that another page has started', async () => {
    const store = createMemoryStore();
    const page = openPage();
    const first = start({ baseUrl: '/clew', store });
    await first.tracker.flush();
    const before = await first.tracker.correlationValue();
    page.leave();
    vi.stubGlobal('BroadcastChannel', undefined);
    const second = start({ baseUrl: '/clew', store });
    second.tracker.reset();
    const after = await second.tracker.correlationValue();
    await second.tracker.flush();
    page.restore();
    first.tracker.track('back');
    await first.tracker.flush();
    expect(after).not.toBe(before);
    expect(first.events('back')).toMatchObject([{ correlationValue: after }]);
  });
});

describe('a page whose library makes texts of lists', () => {
  it('journals events for the next page', async () => {
    makeListsText();
    const store = createMemoryStore();
    const page = openPage();
    page.navigator.onLine = false;
    start({ baseUrl: '/clew', store }).tracker.track('journaled');
    page.leave();
    openPage();
    const second = start({ baseUrl: '/clew', store });
    await second.tracker.flush();
    expect(second.names()).toEqual(['journaled']);
  });

  it('gives another customer a visitor id of their own, also if it leaves early', async () => {
    makeListsText();
    const store = createMemoryStore();
    openPage();
    const first = start({ baseUrl: '/clew', store });
    first.tracker.identify('ann');
    await first.tracker.flush();
    first.tracker.stop();
    const page = openPage();
    const second = start({ baseUrl: '/clew', store });
    second.tracker.identify('bob');
    page.leave();
    await settle();
    const all = [...first.events(), ...second.events()];
    expect(all.map(({ payload }) => payload)).toEqual([{ distinct_id: 'ann' }, { distinct_id: 'bob' }]);
    expect(new Set(all.map(({ correlationValue }) => correlationValue)).size).toBe(2);
  });
});

describe('a page that is hidden', () => {
  it('sends the queue', async () => {
    const page = openPage();
    const { tracker, requests, names } = start({ flushInterval: 60_000 });
    tracker.track('first');
    await tracker.flush();
    tracker.track('seen');
    page.show(false);
    await settle();
    expect(names()).toEqual(['first', 'seen']);
    expect(requests.every(({ leaving }) => !leaving)).toBe(true);
  });

  it.each<[string, (page: ReturnType<typeof openPage>) => void]>([
    ['is looked at again', (page) => page.show(true)],
    ['is online again', (page) => page.reconnect()],
  ])('retries before its back-off has ended when it %s', async (_what, act) => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const page = openPage();
    const { tracker, names, fail, recover, requests } = start();
    await tracker.flush();
    fail(503);
    tracker.track('seen');
    await tracker.flush();
    recover();
    page.show(false);
    await settle();
    expect(requests).toHaveLength(1);
    act(page);
    await settle();
    expect(names()).toEqual(['seen']);
  });
});

describe('stop()', () => {
  it('hands over the queue and all later events', async () => {
    openPage();
    const { tracker, requests, names } = start();
    await tracker.flush();
    tracker.track('seen');
    tracker.stop();
    tracker.track('late');
    await settle();
    expect(names()).toEqual(['seen', 'late']);
    expect(requests.every(({ leaving }) => leaving)).toBe(true);
  });

  it('undoes the work of plugins, also of those that throw', async () => {
    const undone: string[] = [];
    const { tracker, errors } = start({
      pageViews: ({ track }) => {
        track('plugged in');
        return () => {
          undone.push('pageViews');
          throw new Error('broken');
        };
      },
      clicks: () => () => void undone.push('clicks'),
    });
    await tracker.flush();
    expect(undone).toEqual([]);
    tracker.stop();
    expect(undone).toEqual(['pageViews', 'clicks']);
    expect(errors).toEqual(['clew: broken']);
    tracker.stop();
    expect(undone).toHaveLength(2);
  });

  it('removes all listeners from the page', async () => {
    const page = openPage();
    const { tracker, requests } = start();
    await tracker.flush();
    tracker.stop();
    const sent = requests.length;
    page.restore();
    page.show(true);
    await settle();
    tracker.track('late');
    page.leave();
    await settle();
    expect(requests.slice(sent).map(({ leaving }) => leaving)).toEqual([true]);
  });
});

describe('a plugin', () => {
  it('that throws is reported, and the other plugins start', async () => {
    const { errors, names, tracker } = start({
      pageViews: () => {
        throw new Error('broken');
      },
      clicks: ({ track }) => {
        track('plugged in');
        return () => {};
      },
    });
    await tracker.flush();
    expect(names()).toEqual(['plugged in']);
    // This test adds its listeners after the plugins have started.
    expect(errors).toEqual([]);
  });

  it.each([undefined, null, 'broken', { of: 'somebody' }])(
    'that throws %j, which has no message, is reported',
    async (thrown) => {
      const { tracker, errors } = start({
        clicks: () => () => {
          throw thrown;
        },
      });
      tracker.stop();
      expect(errors).toEqual(['clew: unknown']);
    },
  );

  it('starts while the page is prerendering, and its events wait until a visitor sees the page', async () => {
    const page = openPage();
    page.document.prerendering = true;
    const { tracker, requests, names } = start({
      pageViews: ({ track }) => {
        track('plugged in');
        return () => {};
      },
    });
    tracker.track('prerendered');
    await settle();
    expect(requests).toEqual([]);
    expect(tracker.stats()).toMatchObject({ tracked: 2, queued: 2 });
    page.document.prerendering = false;
    page.document.dispatchEvent(new Event('prerenderingchange'));
    await tracker.flush();
    expect(names()).toEqual(['plugged in', 'prerendered']);
  });

  it('sends nothing of a page that is stopped while it is prerendering', async () => {
    const page = openPage();
    page.document.prerendering = true;
    const undo = vi.fn();
    const { tracker, requests } = start({
      pageViews: ({ track }) => {
        track('plugged in');
        return undo;
      },
    });
    tracker.stop();
    page.document.prerendering = false;
    page.document.dispatchEvent(new Event('prerenderingchange'));
    await settle();
    expect(undo).toHaveBeenCalledOnce();
    expect(requests).toEqual([]);
  });
});

it('a consent platform that refuses while the page is prerendering is obeyed when a visitor sees the page', async () => {
  const page = openPage();
  page.document.prerendering = true;
  const { tracker, requests } = start({ baseUrl: '/clew' });
  tracker.consent(false);
  page.document.prerendering = false;
  page.document.dispatchEvent(new Event('prerenderingchange'));
  tracker.track('seen');
  await settle();
  expect([requests, Object.keys(localStorage), tracker.stats().dropped]).toEqual([[], [], { consent: 1 }]);
});
