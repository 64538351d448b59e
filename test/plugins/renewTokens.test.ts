// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { MakeRenewal } from '../../src/courier/renewal.ts';
import { fetchTransport, type PluginTools, type Signals, type Tracker, type TrackerOptions } from '../../src/index.ts';
import { renewTokens } from '../../src/plugins.ts';
import { draftEvent, draftUpsert, type ItemText, stamp } from '../../src/recorder/event.ts';
import { signIdentity } from '../../src/relay.ts';
import { KEY, useCollector } from '../collector/running.ts';
import { useRelays } from '../relay/stage.ts';
import { AUDIENCE, claims, hmac, now, SECRET, signingKeys, token } from '../relay/tokens.ts';
import { connectTabs, createMemoryStore, openPage, start } from '../tracker/page.ts';

const NEXT = `next ${SECRET}`;
const collector = useCollector();
/** A relay whose keys have rotated: it has only the new key. */
const openRelay = useRelays(() => ({
  baseUrl: collector().url,
  apiKey: KEY,
  identityKeys: { audience: AUDIENCE, keys: [{ id: 'next', secret: NEXT }], revoked: ['gone'] },
}));
const signFor = (primaryKey: string) => signIdentity({ primaryKey, expiresIn: 60 }, signingKeys('next', NEXT));

/** Tokens that were valid as the page was offline. */
const OLD: [what: string, make: (sub: string) => string][] = [
  [
    'has expired',
    (sub) =>
      token(claims({ sub, iat: now() - 60, exp: now() - 1 }), { alg: 'HS256', kid: 'next' }, (signed) =>
        hmac(signed, NEXT),
      ),
  ],
  ['was signed with a key that has rotated since', (sub) => token(claims({ sub }))],
  ['was signed with a key that was revoked since', (sub) => token(claims({ sub }), { alg: 'HS256', kid: 'gone' })],
];
const [[, expired]] = OLD as [(typeof OLD)[number]];

/** A page that is offline until `connect`. */
const open = async (
  getToken?: (primaryKey: string) => Promise<string | undefined>,
  options?: Partial<TrackerOptions>,
) => {
  const { url } = await openRelay();
  let isOnline = false;
  const page = start({
    baseUrl: `${url}/clew`,
    transport: (request) => (isOnline ? fetchTransport(request) : Promise.reject(new Error('offline'))),
    plugins: [getToken && renewTokens(getToken)],
    ...options,
  });
  const asked: string[] = [];
  page.tracker.on('token-expired', ({ primaryKey }) => asked.push(primaryKey));
  return {
    ...page,
    asked,
    async connect() {
      isOnline = true;
      await page.tracker.flush();
    },
  };
};

/** The customers who are identified, and how many events each has by its visitor ids. */
const customers = async () => {
  const events = await collector().events();
  const known = (await collector().customers()).filter(({ primaryKey }) => primaryKey !== null);
  return known.map(({ primaryKey, properties, correlationValues }) => ({
    primaryKey,
    properties,
    events: events.filter(
      ({ event, correlationValue }) => event === 'seen' && correlationValues.includes(correlationValue),
    ).length,
  }));
};

describe('tracked offline, with a token that', () => {
  it.each(OLD)('%s: 200 of 200 events arrive under the right customer, with the properties', async (_, make) => {
    const { tracker, connect, asked, dropped, errors } = await open((primaryKey) => signFor(primaryKey));
    tracker.identify('ann', { plan: 'pro' }, { signature: make('ann') });
    for (let n = 0; n < 100; n++) tracker.track('seen');
    tracker.identify('ben', { plan: 'free' }, { signature: make('ben') });
    for (let n = 0; n < 100; n++) tracker.track('seen');
    tracker.setProperties({ seats: 3 });
    await tracker.flush();
    errors.length = 0;
    await connect();
    await expect.poll(customers).toEqual([
      { primaryKey: 'ann', properties: { plan: 'pro' }, events: 100 },
      { primaryKey: 'ben', properties: { plan: 'free', seats: 3 }, events: 100 },
    ]);
    await expect.poll(() => tracker.stats()).toEqual({ tracked: 202, delivered: 202, queued: 0, dropped: {} });
    expect(asked.toSorted()).toEqual(['ann', 'ben']);
    expect([dropped, errors]).toEqual([[], []]);
  });
});

describe('while the app is asked for a token', () => {
  it('other events arrive, also those behind properties that wait', async () => {
    let answer: (token: string) => void = () => {};
    const { tracker, connect } = await open(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    tracker.identify('ann', { plan: 'pro' }, { signature: expired('ann') });
    tracker.track('seen');
    await connect();
    await tracker.flush();
    expect((await collector().events()).map(({ event }) => event)).toEqual(['seen']);
    expect(tracker.stats()).toMatchObject({ delivered: 1, queued: 1 });
    expect(await customers()).toEqual([]);
    answer(await signFor('ann'));
    await expect.poll(customers).toEqual([{ primaryKey: 'ann', properties: { plan: 'pro' }, events: 1 }]);
  });

  it('the page may end: the next one asks again', async () => {
    const store = createMemoryStore();
    const first = await open(() => new Promise(() => {}), { store, storageName: '/clew' });
    first.tracker.identify('ann', { plan: 'pro' }, { signature: expired('ann') });
    await first.connect();
    expect(first.asked).toEqual(['ann']);
    first.tracker.stop();
    const second = await open((primaryKey) => signFor(primaryKey), { store, storageName: '/clew' });
    await second.connect();
    await expect.poll(customers).toEqual([{ primaryKey: 'ann', properties: { plan: 'pro' }, events: 0 }]);
    expect(second.asked).toEqual(['ann']);
  });
});

describe('a page that leaves', () => {
  const openToLeave = async (getToken: (primaryKey: string) => Promise<string | undefined>) => {
    const page = openPage();
    const handed: string[] = [];
    const app = await open(getToken, {
      storageName: '/clew',
      compress: false,
      transport(request) {
        if (request.leaving) handed.push(`${request.body}`);
        return fetchTransport({ ...request, leaving: false });
      },
    });
    app.tracker.identify('ann', { plan: 'pro' }, { signature: expired('ann') });
    await app.connect();
    return { ...app, page, handed };
  };

  it('hands properties over with the new token', async () => {
    connectTabs();
    const { tracker, page } = await openToLeave((primaryKey) => signFor(primaryKey));
    await expect.poll(customers).toEqual([{ primaryKey: 'ann', properties: { plan: 'pro' }, events: 0 }]);
    await tracker.flush();
    tracker.setProperties({ seats: 3 });
    page.leave();
    await expect.poll(customers).toEqual([{ primaryKey: 'ann', properties: { plan: 'pro', seats: 3 }, events: 0 }]);
  });

  it('hands over nothing that waits for a token', async () => {
    const { tracker, page, handed } = await openToLeave(() => new Promise(() => {}));
    await tracker.flush();
    tracker.track('bye');
    page.leave();
    expect(handed).toHaveLength(1);
    expect(JSON.parse(handed[0] ?? '').batch.map(({ event }: { event: string }) => event)).toEqual(['bye']);
  });
});

describe('without a new token', () => {
  it('the $identify is dropped if the app has none, and a later identify sends it again, with the properties', async () => {
    const { tracker, connect, dropped } = await open(async () => undefined);
    tracker.identify('ann', { plan: 'pro' }, { signature: expired('ann') });
    tracker.track('seen');
    await connect();
    await expect.poll(() => dropped).toEqual([['$identify', 'rejected']]);
    expect(await customers()).toEqual([]);
    tracker.identify('ann', undefined, { signature: await signFor('ann') });
    await tracker.flush();
    await expect.poll(customers).toEqual([{ primaryKey: 'ann', properties: { plan: 'pro' }, events: 1 }]);
  });

  it('the $identify is dropped if the option is not set', async () => {
    const { tracker, connect, dropped, asked } = await open();
    tracker.identify('ann', undefined, { signature: expired('ann') });
    await connect();
    expect(dropped).toEqual([['$identify', 'rejected']]);
    expect(asked).toEqual([]);
  });

  it('another person’s token never identifies this customer', async () => {
    const { tracker, connect, dropped } = await open(() => signFor('ben'));
    tracker.identify('ann', { plan: 'pro' }, { signature: expired('ann') });
    await connect();
    await expect.poll(() => dropped).toEqual([['$identify', 'rejected']]);
    expect(await customers()).toEqual([]);
  });
});

describe('without renewTokens, an identify with a new token before the old one is refused', () => {
  it.each(['the same page', 'the next page'])('on %s: the events get their customer', async (where) => {
    const given = { store: createMemoryStore(), storageName: '/clew' };
    const first = await open(undefined, given);
    first.tracker.identify('ann', undefined, { signature: expired('ann') });
    first.tracker.track('seen');
    await first.tracker.flush();
    if (where === 'the next page') first.tracker.stop();
    const page = where === 'the next page' ? await open(undefined, given) : first;
    page.tracker.identify('ann', undefined, { signature: await signFor('ann') });
    await page.connect();
    await expect.poll(customers).toEqual([{ primaryKey: 'ann', properties: {}, events: 1 }]);
    expect(page.dropped).toEqual([['$identify', 'rejected']]);
    const sent = (await collector().events()).filter(({ event }) => event === '$identify');
    expect(sent).toHaveLength(1);
  });
});

describe('without renewTokens, the latest token counts', () => {
  const sign = (plan: string) =>
    signIdentity({ primaryKey: 'ann', expiresIn: 60, properties: { plan } }, signingKeys('next', NEXT));
  const propertiesOfAnn = async () => (await customers())[0]?.properties;
  /** A page that has identified Ann by her first token, and left. */
  const leaveFirst = async () => {
    const { url } = await openRelay();
    const baseUrl = `${url}/clew`;
    const given = { baseUrl, storageName: '/clew', store: createMemoryStore(), transport: fetchTransport };
    const early = openPage();
    const before = start(given);
    before.tracker.identify('ann', undefined, { signature: await sign('free') });
    await before.tracker.flush();
    early.leave();
    return { given, early, before };
  };

  it('on a page that comes back from the back/forward cache, and on the next one', async () => {
    const { given, early, before } = await leaveFirst();
    const later = openPage();
    const after = start(given);
    after.tracker.identify('ann', undefined, { signature: await sign('pro') });
    await after.tracker.flush();
    later.leave();
    early.restore();
    await before.tracker.correlationValue();
    before.tracker.setProperties({ plan: 'pro' });
    await expect.poll(propertiesOfAnn).toEqual({ plan: 'pro' });
    early.leave();
    openPage();
    const { tracker, errors } = start(given);
    tracker.setProperties({ plan: 'pro', seats: 3 });
    await expect.poll(propertiesOfAnn).toEqual({ plan: 'pro', seats: 3 });
    expect([before.errors, errors]).toEqual([[], []]);
  });

  it('on the page after one that has left at once', async () => {
    const { given } = await leaveFirst();
    const signature = await sign('pro');
    // Versions are in tenths of a second.
    const later = Date.now() + 200;
    vi.spyOn(Date, 'now').mockImplementation(() => later);
    const brief = openPage();
    start(given).tracker.identify('ann', undefined, { signature });
    brief.leave();
    vi.restoreAllMocks();
    openPage();
    const { tracker, errors } = start(given);
    await tracker.correlationValue();
    tracker.setProperties({ plan: 'pro' });
    await expect.poll(propertiesOfAnn).toEqual({ plan: 'pro' });
    expect(errors).toEqual([]);
  });
});

describe('an app that fails', () => {
  it.each<[string, () => Promise<string | undefined>, string]>([
    ['rejects', () => Promise.reject(new Error('the server is away')), 'clew: the server is away'],
    [
      'throws',
      () => {
        throw new Error('the server is away');
      },
      'clew: the server is away',
    ],
    ['returns an empty text', async () => '', 'clew: renewTokens: expected a new token'],
    ['returns no text', async () => 7 as never, 'clew: renewTokens: expected a new token'],
  ])('is asked again after a minute if it %s', async (_, answer, message) => {
    const failed = vi.fn(answer);
    let getToken: (primaryKey: string) => Promise<string | undefined> = failed;
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const { tracker, connect, errors } = await open((primaryKey) => getToken(primaryKey));
    tracker.identify('ann', undefined, { signature: expired('ann') });
    await tracker.flush();
    errors.length = 0;
    await connect();
    await tracker.flush();
    expect(errors).toEqual([message]);
    expect(failed).toHaveBeenCalledTimes(1);
    expect(tracker.stats()).toMatchObject({ delivered: 0, queued: 1 });
    getToken = signFor;
    const [again, , ...given] = timers.mock.calls.find(([, ms]) => ms === 60_000) ?? [];
    (again as (...given: unknown[]) => void)(...given);
    await expect.poll(customers).toEqual([{ primaryKey: 'ann', properties: {}, events: 0 }]);
  });

  it('gives tokens that have expired, too: it is not asked in a loop', async () => {
    let count = 0;
    const getToken = vi.fn(async (sub: string) =>
      token(claims({ sub, jti: count++, exp: now() - 1 }), { alg: 'HS256', kid: 'next' }, (signed) =>
        hmac(signed, NEXT),
      ),
    );
    const { tracker, connect } = await open(getToken);
    tracker.identify('ann', { plan: 'pro' }, { signature: expired('ann') });
    await connect();
    for (let n = 0; n < 5; n++) await tracker.flush();
    expect(getToken).toHaveBeenCalledTimes(1);
    expect(await customers()).toEqual([]);
  });
});

const upsertOf = (primary_key: string, plan: string, signature: string): ItemText =>
  stamp(draftUpsert({ plan }), { primary_key, signature });
const plansOf = (items: readonly ItemText[]) =>
  items.map((text) => JSON.parse(text).properties?.plan ?? JSON.parse(text).event);

/** The plugin without a tracker. */
const renewalOf = (getToken: Parameters<typeof renewTokens>[0]) => {
  const renewBy = vi.fn<PluginTools['renewBy']>();
  const listeners: ((change: Signals['change']) => void)[] = [];
  const on = (_signal: string, listener: (change: Signals['change']) => void) => {
    listeners.push(listener);
    return () => {};
  };
  let visitorId: string | undefined = 'the visitor';
  const stop = renewTokens(getToken)(
    { flush: async () => {}, on } as unknown as Tracker,
    { renewBy, visitorId: () => visitorId } as unknown as PluginTools,
  );
  const [[make] = []] = renewBy.mock.calls;
  const [ready, withoutExpired] = (make as MakeRenewal)(
    () => {},
    () => {},
  );
  const refuse = (text: ItemText) =>
    withoutExpired([text], { outcome: 'rejected', status: 422, message: '422 signature: token-expired' });
  const forget = () => {
    visitorId = undefined;
  };
  const forgetAndConsent = () => {
    forget();
    for (const listener of listeners) listener({ visitorId });
    visitorId = 'the next visitor';
  };
  return { ready, refuse, stop, forget, forgetAndConsent };
};

it('a customer’s newer properties wait for older ones whose token is renewed, and nothing else does', async () => {
  let answer = (_token: string) => {};
  const asked = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const { ready, refuse } = renewalOf(() => asked);
  const old = upsertOf('ann', 'old', 'expired');
  const seen = stamp(draftEvent(Date.now(), 'seen'), { correlationValue: 'ann' });
  const items = [old, upsertOf('ann', 'new', 'valid'), seen, upsertOf('ben', 'other', 'valid')];
  refuse(old);
  expect(plansOf(ready(items))).toEqual(['seen', 'other']);
  answer('renewed');
  await asked;
  await Promise.resolve();
  expect(plansOf(ready(items))).toEqual(['old', 'new', 'seen', 'other']);
});

it('an expired token proves nothing of the service: the request does not count as delivered', () => {
  const { refuse } = renewalOf(async () => undefined);
  expect(refuse(upsertOf('ann', 'old', 'expired'))).toEqual([[], expect.objectContaining({ outcome: 'rejected' })]);
});

describe('an app that fails is not asked again', () => {
  afterEach(() => vi.useRealTimers());

  it.each([
    ['stop()', 'before', 'stop'],
    ['stop()', 'after', 'stop'],
    ['a refusal of consent', 'before', 'forget'],
    ['a refusal of consent', 'after', 'forget'],
    ['a refusal and a later consent', 'before', 'forgetAndConsent'],
    ['a refusal and a later consent', 'after', 'forgetAndConsent'],
  ] as const)('after %s, %s it fails', async (_, when, end) => {
    vi.useFakeTimers();
    const getToken = vi.fn(() => Promise.reject(new Error('the server is away')));
    const renewal = renewalOf(getToken);
    renewal.refuse(upsertOf('ann', 'old', 'expired'));
    if (when === 'after') await vi.advanceTimersByTimeAsync(1);
    renewal[end]();
    await vi.advanceTimersByTimeAsync(200_000);
    expect(getToken).toHaveBeenCalledTimes(1);
  });
});

it('expects a function', () => {
  expect(() => renewTokens('/token' as never)).toThrow('clew: renewTokens: expected a function');
});
