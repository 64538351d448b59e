// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { fetchTransport, type Store, type TrackerOptions } from '../../src/index.ts';
import { draftUpsert } from '../../src/recorder/event.ts';
import { createEarly } from '../../src/visitor/early.ts';
import { KEY, useCollector } from '../collector/running.ts';
import { useRelays } from '../relay/stage.ts';
import { AUDIENCE, claims, SECRET, token } from '../relay/tokens.ts';
import { connectTabs, createMemoryStore, openPage, settle, start } from '../tracker/page.ts';
import { SERVICE, visitorId } from './visitorOf.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = () => vi.advanceTimersByTimeAsync(1000);
const open = (store: Store, options: Partial<TrackerOptions> = {}) => {
  const page = openPage();
  return { page, ...start({ baseUrl: '/clew', store, ...options }) };
};
const entries = () => Object.keys(localStorage).filter((key) => key.startsWith('clew.early'));
/** The customers and properties of all upserts, and the names of events between them. */
const sentBy = ({ requests }: Pick<ReturnType<typeof open>, 'requests'>) =>
  requests.flatMap(({ body }) => {
    const { batch, primary_key, properties, signature } = JSON.parse(`${body}`);
    return batch ? batch.map(({ event }: { event: string }) => event) : [[primary_key, properties, signature]];
  });

describe('setProperties before identify', () => {
  it('waits, and follows the $identify with its signature, before later properties', async () => {
    const test = open(createMemoryStore());
    test.tracker.setProperties({ plan: 'pro', seats: 1 });
    test.tracker.setProperties({ seats: 2, trial: null });
    await test.tracker.flush();
    expect(test.upserts()).toEqual([]);
    test.tracker.identify('ann', { plan: 'free' }, { signature: 'proof' });
    await test.tracker.flush();
    expect(sentBy(test)).toEqual([
      '$identify',
      ['ann', { plan: 'pro', seats: 2, trial: null }, 'proof'],
      ['ann', { plan: 'free' }, 'proof'],
    ]);
    expect([entries(), test.errors]).toEqual([[], []]);
  });

  it('waits over page loads, and counts as no event', async () => {
    const store = createMemoryStore();
    for (const n of [1, 2]) {
      const { tracker, page } = open(store);
      tracker.setProperties({ n, [`page${n}`]: true });
      await tracker.flush();
      expect(tracker.stats()).toMatchObject({ tracked: 0, queued: 0 });
      page.leave();
      await later();
    }
    expect(entries()).toHaveLength(1);
    const last = open(store);
    last.tracker.identify('ann');
    await last.tracker.flush();
    expect(sentBy(last)).toEqual(['$identify', ['ann', { n: 2, page1: true, page2: true }, undefined]]);
  });

  it('arrives if the page leaves with identify in its first task, before the database has answered', async () => {
    const store = createMemoryStore();
    const first = open(store);
    first.tracker.setProperties({ plan: 'pro' });
    await first.tracker.flush();
    first.page.leave();
    await later();
    const login = open(store);
    login.tracker.identify('ann');
    login.page.leave();
    await later();
    const last = open(store);
    await last.tracker.flush();
    await later();
    expect([...login.upserts(), ...last.upserts()]).toMatchObject([
      { primary_key: 'ann', properties: { plan: 'pro' } },
    ]);
    expect(entries()).toEqual([]);
  });

  it('arrives if the page crashes in a later task', async () => {
    const store = createMemoryStore();
    const first = open(store);
    first.tracker.setProperties({ plan: 'pro' });
    await settle();
    // The page is gone without `pagehide`.
    const last = open(store);
    last.tracker.identify('ann');
    await last.tracker.flush();
    expect(last.upserts()).toMatchObject([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  });

  it('arrives if the page crashes after the answer of the database, whose transaction is never done', async () => {
    const store = createMemoryStore();
    const first = open(store);
    first.tracker.setProperties({ plan: 'pro' });
    await first.tracker.flush();
    first.page.leave();
    await later();
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    // Each transaction has its answer, and stores nothing.
    const hanging: Store = {
      ...store,
      async transact<T extends object>(...[, name, change, query]: Parameters<typeof store.transact<T>>) {
        await asked;
        await store.transact<T>([], name, (...found) => void change?.(...found), query);
        return new Promise<undefined>(() => {});
      },
    };
    const crashing = open(hanging);
    crashing.tracker.identify('ann');
    await later();
    expect(entries()).toHaveLength(1);
    answer();
    await later();
    expect(entries()).toEqual([]);
    expect(crashing.requests).toEqual([]);
    // The page is gone without `pagehide`.
    const last = open(store);
    await last.tracker.flush();
    expect(sentBy(last)).toEqual(['$identify', ['ann', { plan: 'pro' }, undefined]]);
  });

  it('ends with reset, and does not reach the next customer', async () => {
    const test = open(createMemoryStore());
    test.tracker.setProperties({ plan: 'pro' });
    await test.tracker.flush();
    test.tracker.reset();
    expect(entries()).toEqual([]);
    test.tracker.identify('bob');
    await test.tracker.flush();
    expect(test.upserts()).toEqual([]);
  });

  it('ends with reset also if the page leaves before the database has answered', async () => {
    const store = createMemoryStore();
    const first = open(store);
    first.tracker.setProperties({ plan: 'pro' });
    first.tracker.reset();
    first.tracker.identify('bob');
    first.page.leave();
    await later();
    const last = open(store);
    await last.tracker.flush();
    await later();
    expect([...first.upserts(), ...last.upserts()]).toEqual([]);
  });

  it('reaches no other customer if the page has not asked the database for the first customer yet', async () => {
    const store = createMemoryStore();
    const first = open(store);
    first.tracker.identify('ann');
    await first.tracker.flush();
    first.page.leave();
    await later();
    const second = open(store);
    second.tracker.setProperties({ of: 'ann' });
    second.tracker.identify('bob');
    second.page.leave();
    await later();
    const last = open(store);
    await last.tracker.flush();
    await later();
    const sent = [...second.upserts(), ...last.upserts()];
    expect(sent.map(({ primary_key, properties }) => [primary_key, properties])).toEqual([['ann', { of: 'ann' }]]);
  });

  it.each([
    ['a refusal', true],
    ['a refusal before the database has answered', false],
  ])('ends with %s', async (_what, isAnswered) => {
    const test = open(createMemoryStore());
    test.tracker.setProperties({ plan: 'pro' });
    if (isAnswered) await test.tracker.flush();
    test.tracker.consent(false);
    expect(entries()).toEqual([]);
    test.tracker.consent(true);
    test.tracker.identify('ann');
    await test.tracker.flush();
    expect(test.upserts()).toEqual([]);
  });

  it('in two tabs arrives once, with the properties of both', async () => {
    connectTabs();
    const store = createMemoryStore();
    const [first, second] = [open(store), open(store)];
    for (const [tab, of] of [
      [first, 'a'],
      [second, 'b'],
      [first, 'c'],
    ] as const) {
      tab.tracker.setProperties({ [of]: true, last: of });
      await later();
    }
    first.tracker.identify('ann');
    second.tracker.identify('ann');
    await Promise.all([first.tracker.flush(), second.tracker.flush()]);
    await later();
    expect([...first.upserts(), ...second.upserts()]).toMatchObject([
      { primary_key: 'ann', properties: { a: true, b: true, c: true, last: 'c' } },
    ]);
  });

  it('waits in memory where the browser refuses localStorage', async () => {
    const test = open(createMemoryStore());
    vi.stubGlobal('localStorage', undefined);
    test.tracker.setProperties({ a: 1 });
    test.tracker.setProperties({ b: 2 });
    await test.tracker.flush();
    test.tracker.identify('ann');
    await test.tracker.flush();
    expect(test.upserts()).toMatchObject([{ primary_key: 'ann', properties: { a: 1, b: 2 } }]);
  });

  it('waits in memory beside what another tab has found room for', async () => {
    const store = createMemoryStore();
    const test = open(store);
    const { localStorage: real } = globalThis;
    vi.stubGlobal('localStorage', undefined);
    test.tracker.setProperties({ a: 1 });
    await test.tracker.flush();
    vi.stubGlobal('localStorage', real);
    const other = start({ baseUrl: '/clew', store });
    other.tracker.setProperties({ b: 2 });
    await other.tracker.flush();
    test.tracker.identify('ann');
    await test.tracker.flush();
    const all = test.upserts().map(({ properties }) => properties);
    expect(Object.assign({}, ...all)).toEqual({ a: 1, b: 2 });
  });

  it('is refused with an error at identify, if it is too large for a request', async () => {
    const test = open(createMemoryStore(), { maxBatchBytes: 2000 });
    test.tracker.setProperties({ pad: '.'.repeat(3000) });
    test.tracker.identify('ann');
    await test.tracker.flush();
    expect([test.errors, test.upserts()]).toEqual([['clew: setProperties: too-large'], []]);
  });

  it.each([
    '7',
    '{',
    '{"uuid":"01234567-89ab-4cde-8f01-23456789abcd","properties":',
    '{"uuid":"01234567-89ab-4cde-8f01-23456789abcd","properties":7,"correlationValue":7}',
  ])('is not disturbed by other code that has written its entry: %s', async (text) => {
    const test = open(createMemoryStore());
    localStorage['clew.early /clew'] = text;
    test.tracker.setProperties({ plan: 'pro' });
    await test.tracker.flush();
    test.tracker.identify('ann');
    await test.tracker.flush();
    expect(test.upserts()).toMatchObject([{ primary_key: 'ann', properties: { plan: 'pro' } }]);
  });
});

it('the properties of one visitor id are dropped when those of the next one wait', () => {
  openPage();
  const early = createEarly(SERVICE, undefined, () => false);
  early.keep([draftUpsert({ plan: 'pro' }), { correlationValue: visitorId(1) }]);
  early.keep([draftUpsert({ seats: 2 }), { correlationValue: visitorId(2) }]);
  expect(early.take().map((text) => JSON.parse(text))).toEqual([
    { uuid: expect.any(String), properties: { seats: 2 }, correlationValue: visitorId(2) },
  ]);
});

describe('properties of a customer whose $identify a relay rejects', () => {
  const collector = useCollector();
  const openRelay = useRelays(() => ({
    baseUrl: collector().url,
    apiKey: KEY,
    identityKeys: { audience: AUDIENCE, keys: [{ id: 'a', secret: SECRET }] },
  }));
  const signed = (sub: string, more = {}) => ({ signature: token(claims({ sub, ...more })) });
  const pages = async () => {
    const { url } = await openRelay();
    const store = createMemoryStore();
    return () => open(store, { baseUrl: `${url}/clew`, transport: fetchTransport });
  };
  const customers = async () =>
    (await collector().customers()).map(({ primaryKey, properties }) => [primaryKey, properties]);
  const flush = async ({ tracker }: Pick<ReturnType<typeof open>, 'tracker'>) => {
    for (let n = 0; n < 4; n++) await tracker.flush();
  };

  it.each([
    ['the same page', false],
    ['the next page', true],
  ])('wait for the next identify on %s, in their order', async (_where, isNext) => {
    const openOne = await pages();
    let test = openOne();
    test.tracker.setProperties({ early: 1, plan: 'a' });
    test.tracker.identify('ann', { plan: 'b' }, signed('bob'));
    test.tracker.setProperties({ plan: 'c' });
    await flush(test);
    test.tracker.setProperties({ seats: 2 });
    await flush(test);
    expect(await customers()).toEqual([]);
    if (isNext) {
      test.page.leave();
      await later();
      test = openOne();
    }
    test.tracker.identify('ann', { name: 'Ann' }, signed('ann'));
    await flush(test);
    expect(await customers()).toEqual([['ann', { early: 1, plan: 'c', seats: 2, name: 'Ann' }]]);
    expect(entries()).toEqual([]);
  });

  it('are not passed by properties that are set after the rejection', async () => {
    const test = (await pages())();
    test.tracker.identify('ann', { plan: 'a', seats: 1 }, signed('bob'));
    await flush(test);
    test.tracker.setProperties({ plan: 'b' });
    test.tracker.identify('ann', undefined, signed('ann'));
    await flush(test);
    expect(await customers()).toEqual([['ann', { plan: 'b', seats: 1 }]]);
  });

  it('wait no longer than the visitor id', async () => {
    const test = (await pages())();
    test.tracker.identify('ann', { plan: 'pro' }, signed('ann', { iat: 1, exp: 2 }));
    await flush(test);
    expect(entries()).toHaveLength(1);
    test.tracker.identify('bob', undefined, signed('bob'));
    await flush(test);
    expect(await customers()).toEqual([['bob', {}]]);
    expect(entries()).toEqual([]);
  });

  it('are sent no more by a page that starts without identify', async () => {
    const openOne = await pages();
    const first = openOne();
    first.tracker.identify('ann', { plan: 'pro' }, signed('bob'));
    await flush(first);
    first.page.leave();
    await later();
    const second = openOne();
    await flush(second);
    expect(second.requests.filter(({ url }) => url.endsWith('/upsert'))).toEqual([]);
    expect(entries()).toHaveLength(1);
  });
});
