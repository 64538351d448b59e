// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Answer, TransportRequest } from '../../src/index.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);

/** Two pages of a customer, the second of which leaves. */
const openTwo = async () => {
  const store = createMemoryStore();
  openPage();
  const first = start({ baseUrl: '/clew', store });
  first.tracker.identify('ann');
  await first.tracker.flush();
  const page = openPage();
  const second = start({ baseUrl: '/clew', store, transport: first.transport });
  await later();
  const sent = () => first.upserts().map(({ properties }) => properties);
  return { store, first, second, page, sent };
};

describe('properties that a page hands over', () => {
  it('do not pass older ones that another tab has queued', async () => {
    connectTabs();
    const { first, second, page, sent } = await openTwo();
    first.tracker.setProperties({ plan: 'free' });
    await settle();
    second.tracker.setProperties({ plan: 'pro' });
    page.leave();
    await first.tracker.flush();
    expect(sent()).toEqual([{ plan: 'free' }, { plan: 'pro' }]);
  });

  it('do not pass older ones that another tab is sending to a service without a relay', async () => {
    connectTabs();
    const store = createMemoryStore();
    const arrived: unknown[] = [];
    const waiting: (() => void)[] = [];
    const transport = async ({ url, body }: TransportRequest): Promise<Answer> => {
      const { plan } = JSON.parse(`${body}`).properties ?? {};
      if (url.includes('/upsert') && plan === 'free') await new Promise<void>((resolve) => waiting.push(resolve));
      if (plan) arrived.push(plan);
      return { outcome: 'delivered', status: 201 };
    };
    const options = { baseUrl: 'https://service.example', apiKey: 'key', store, transport };
    openPage();
    const first = start(options);
    first.tracker.identify('ann');
    await first.tracker.flush();
    const page = openPage();
    const second = start(options);
    await later();
    first.tracker.setProperties({ plan: 'free' });
    const flushing = first.tracker.flush();
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    second.tracker.setProperties({ plan: 'pro' });
    page.leave();
    await settle();
    waiting[0]?.();
    await flushing;
    await first.tracker.flush();
    expect(arrived).toEqual(['free', 'pro']);
  });

  it('are not handed over once another tab has settled them, also without BroadcastChannel', async () => {
    const { first, second, page, sent } = await openTwo();
    second.tracker.setProperties({ plan: 'free' });
    await later(10);
    await first.tracker.flush();
    first.tracker.setProperties({ plan: 'pro' });
    await first.tracker.flush();
    page.leave();
    await later();
    expect(sent()).toEqual([{ plan: 'free' }, { plan: 'pro' }]);
  });

  it('are not handed over again by a tracker that was stopped, once another tab has settled them', async () => {
    connectTabs();
    const { first, second, page, sent } = await openTwo();
    page.navigator.onLine = false;
    second.tracker.setProperties({ plan: 'free' });
    await settle();
    second.tracker.stop();
    page.navigator.onLine = true;
    await first.tracker.flush();
    first.tracker.setProperties({ plan: 'pro' });
    await first.tracker.flush();
    second.tracker.track('later');
    await settle();
    expect(sent()).toEqual([{ plan: 'free' }, { plan: 'pro' }]);
  });
});

describe('properties of a page that leaves before its database has answered do not pass older ones', () => {
  /** A page of a customer, and the values of `plan` as they arrive. */
  const openCustomer = async () => {
    connectTabs();
    const options = { baseUrl: '/clew', store: createMemoryStore() };
    const page = openPage();
    const { tracker, transport, upserts } = start(options);
    tracker.identify('ann');
    await later(5000);
    const plans = () => upserts().map(({ properties }) => Object(properties).plan);
    return { page, tracker, plans, options: { ...options, transport } };
  };
  type Options = Awaited<ReturnType<typeof openCustomer>>['options'];
  const leaveEarly = async (options: Options, plan: string, isOnline = true) => {
    const page = openPage();
    const { tracker } = start(options);
    page.navigator.onLine = isOnline;
    tracker.identify('ann');
    tracker.setProperties({ plan });
    page.leave();
    await later(100);
  };
  const openNext = async (options: Options) => {
    openPage();
    start(options);
    await later(60_000);
  };

  it('that the page before has stored, and could not send', async () => {
    const { page, tracker, plans, options } = await openCustomer();
    page.navigator.onLine = false;
    tracker.setProperties({ plan: 'free' });
    await later(100);
    page.leave();
    await leaveEarly(options, 'pro');
    await openNext(options);
    expect(plans()).toEqual(['free', 'pro']);
  });

  it('that the page before has journaled only', async () => {
    const { page, plans, options } = await openCustomer();
    page.leave();
    await leaveEarly(options, 'free', false);
    await leaveEarly(options, 'pro');
    await openNext(options);
    expect(plans()).toEqual(['free', 'pro']);
  });

  it('that the page before has kept because of a handover, which an open tab has settled since', async () => {
    const { tracker, plans, options } = await openCustomer();
    const page = openPage();
    const other = start(options);
    await later(50);
    other.tracker.track('handed over');
    page.leave();
    await leaveEarly(options, 'free');
    await later(3000);
    tracker.track('asks');
    await later(10_000);
    expect(plans()).toEqual([]);
    await leaveEarly(options, 'pro');
    await openNext(options);
    expect(plans()).toEqual(['free', 'pro']);
  });
});

it('properties that are rejected with their $identify do not overwrite later ones that wait', async () => {
  openPage();
  const sent: unknown[] = [];
  let refuse: (() => void) | undefined;
  const transport = async ({ body }: TransportRequest): Promise<Answer> => {
    const { batch, properties, signature } = JSON.parse(`${body}`);
    if (batch) {
      const rejected = batch.flatMap((one: { uuid: string; signature?: string }) =>
        one.signature === 'old' ? { uuid: one.uuid, reason: 'signature' } : [],
      );
      return { outcome: 'delivered', status: 200, rejected };
    }
    if (signature === 'new') {
      sent.push(properties);
      return { outcome: 'delivered', status: 201 };
    }
    if (!refuse)
      await new Promise<void>((resolve) => {
        refuse = resolve;
      });
    return { outcome: 'rejected', status: 422, message: 'signature' };
  };
  const { tracker } = start({ transport });
  tracker.identify('ann', { plan: 'free', seats: 1 }, { signature: 'old' });
  tracker.setProperties({ seats: 2, city: 'Bonn' });
  const flushing = tracker.flush();
  await vi.waitFor(() => expect(refuse).toBeDefined());
  tracker.setProperties({ plan: 'pro' });
  refuse?.();
  await flushing;
  tracker.setProperties({ trial: true });
  tracker.identify('ann', undefined, { signature: 'new' });
  await tracker.flush();
  expect(sent).toEqual([{ plan: 'pro', seats: 2, city: 'Bonn', trial: true }]);
});
