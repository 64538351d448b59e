import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Plugin, PluginTools, Tracker } from '../src/api/types.ts';
import { consentMode, cookiebot, oneTrust, tcf } from '../src/consent.ts';

/** Stand-ins that have the platforms' documented interface. */
let window: EventTarget & Record<string, unknown>;
let stops: (() => void)[];
beforeEach(() => {
  vi.useFakeTimers();
  stops = [];
  window = new EventTarget() as typeof window;
  vi.stubGlobal('window', window);
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
});
afterEach(() => {
  for (const stop of stops) stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const follow = (plugin: Plugin) => {
  const answers: boolean[] = [];
  const tracker = { consent: (isGranted: boolean) => answers.push(isGranted) } as unknown as Tracker;
  const stop = plugin(tracker, {} as PluginTools);
  stops.push(stop);
  return { answers, stop };
};
const fire = (type: string) => window.dispatchEvent(new Event(type));

it.each([tcf(), consentMode(), oneTrust(), cookiebot()])('a missing platform gives no answer', (plugin) => {
  const { answers } = follow(plugin);
  vi.advanceTimersByTime(600_000);
  expect(answers).toEqual([]);
});

it.each([
  [tcf, 'purposes'],
  [consentMode, 'types'],
  [oneTrust, 'groups'],
  [cookiebot, 'categories'],
] as const)('%o refuses an empty list of %s, and anything else than a list', (create, name) => {
  for (const list of [[], [''], 'C0002', null])
    expect(() => create({ [name]: list })).toThrow(`clew: ${name}: expected a list of what the visitor has to accept`);
});

interface Restricted {
  vendor?: object;
  publisher?: object;
}

describe('tcf', () => {
  const createTcf = () => {
    const listeners = new Map<number, (data: object | null, isDone: boolean) => void>();
    window.__tcfapi = (command: string, _version: 2, callback: (data: never, isDone: boolean) => void, id: number) => {
      if (command === 'addEventListener') listeners.set(listeners.size + 1, callback as never);
      if (command === 'removeEventListener') listeners.delete(id);
    };
    const emit = (eventStatus: string, consents: object, more: object = {}) => {
      for (const [listenerId, listener] of [...listeners])
        listener({ eventStatus, listenerId, gdprApplies: true, purpose: { consents }, ...more }, true);
    };
    return { emit, listeners };
  };
  const YES = { 1: true, 8: true };

  it('that loads late and flips is followed, and the open banner is no answer', () => {
    const { answers, stop } = follow(tcf());
    vi.advanceTimersByTime(5000);
    window.__tcfapi = 'loading';
    vi.advanceTimersByTime(1000);
    const { emit, listeners } = createTcf();
    vi.advanceTimersByTime(1000);
    emit('cmpuishown', YES);
    expect(answers).toEqual([]);
    emit('tcloaded', YES);
    emit('cmpuishown', {});
    emit('useractioncomplete', { 1: true, 8: false });
    emit('useractioncomplete', YES);
    emit('tcloaded', YES);
    expect(answers).toEqual([true, false, true]);
    // The visitor may have refused in another tab meanwhile.
    emit('useractioncomplete', YES);
    expect(answers).toEqual([true, false, true, true]);
    stop();
    expect(listeners.size).toBe(0);
  });

  it('ends the listener at the platform that has taken over from a queue', () => {
    const { emit } = createTcf();
    const { stop } = follow(tcf());
    emit('tcloaded', YES);
    const removed = vi.fn();
    window.__tcfapi = removed;
    stop();
    expect(removed).toHaveBeenCalledWith('removeEventListener', 2, expect.any(Function), 1);
  });

  it('needs the vendor, too, and answers elsewhere only with the option', () => {
    const { emit } = createTcf();
    const [withVendor, without, elsewhere] = [tcf({ vendor: 7 }), tcf(), tcf({ elsewhere: true })].map(follow);
    emit('tcloaded', YES, { gdprApplies: false });
    expect([withVendor, without, elsewhere].map((one) => one?.answers)).toEqual([[], [], [true]]);
    emit('tcloaded', YES, { vendor: { consents: { 7: false } } });
    emit('tcloaded', YES, { vendor: { consents: { 7: true } } });
    expect(withVendor?.answers).toEqual([false, true]);
  });

  it('answers no without consents if the platform does not know whether the GDPR applies', () => {
    const { emit } = createTcf();
    const { answers } = follow(tcf({ elsewhere: true }));
    emit('tcloaded', {}, { gdprApplies: undefined });
    expect(answers).toEqual([false]);
  });

  it.each([
    [
      true,
      {
        vendor: { disclosedVendors: { 7: true } },
        publisher: { restrictions: { 1: { 8: 0 }, 2: { 7: 0 }, 8: { 7: 1 } } },
      },
    ],
    [false, { vendor: { disclosedVendors: { 8: true } } }],
    [false, { publisher: { restrictions: { 1: { 7: 0 } } } }],
  ])('answers %s for a vendor with consent and %j', (isAllowed, { vendor, publisher }: Restricted) => {
    const { emit } = createTcf();
    const { answers } = follow(tcf({ vendor: 7 }));
    emit('tcloaded', YES, { vendor: { consents: { 7: true }, ...vendor }, publisher });
    expect(answers).toEqual([isAllowed]);
  });
});

describe('consentMode', () => {
  const gtag = (...call: unknown[]) => {
    window.dataLayer ??= [];
    (window.dataLayer as unknown[]).push(Object.assign({ length: call.length }, call));
  };
  const [GRANTED, DENIED] = [{ analytics_storage: 'granted' }, { analytics_storage: 'denied' }];

  it('waits for an update after a default that denies, and follows updates', () => {
    const { answers, stop } = follow(consentMode());
    gtag('consent', 'default', { ...DENIED, wait_for_update: 500 });
    vi.advanceTimersByTime(10_000);
    expect(answers).toEqual([]);
    gtag('consent', 'update', GRANTED);
    gtag('consent', 'update', DENIED);
    gtag('event', 'x');
    expect(answers).toEqual([true, false]);
    stop();
    gtag('consent', 'update', GRANTED);
    expect(answers).toEqual([true, false]);
    expect((window.dataLayer as unknown[]).push).toBe(Array.prototype.push);
  });

  it('takes a default that grants once wait_for_update has passed, unless a region denies', () => {
    gtag('consent', 'default', { ...GRANTED, wait_for_update: 500 });
    const { answers } = follow(consentMode());
    vi.advanceTimersByTime(499);
    expect(answers).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(answers).toEqual([true]);
    window.dataLayer = [];
    gtag('consent', 'default', { ...DENIED, region: ['ES'] });
    gtag('consent', 'default', GRANTED);
    const regional = follow(consentMode());
    vi.advanceTimersByTime(10_000);
    expect(regional.answers).toEqual([]);
  });

  it('waits for an update if the site grants consent in one region only', () => {
    gtag('consent', 'default', { ...GRANTED, region: ['US'] });
    const { answers } = follow(consentMode());
    vi.advanceTimersByTime(10_000);
    expect(answers).toEqual([]);
  });

  it('does not read other entries of the data layer as a list', () => {
    const { answers } = follow(consentMode());
    gtag('consent', 'default', DENIED);
    vi.advanceTimersByTime(1000);
    const layer = window.dataLayer as unknown[];
    for (const entry of [{ event: 'video', length: 2 ** 33 }, null, 'consent', () => {}, Symbol('x')])
      layer.push(entry);
    gtag('consent', 'update', GRANTED);
    expect(answers).toEqual([true]);
  });
});

describe('oneTrust', () => {
  it('whose object has the custom geolocation before the platform loads is followed', () => {
    window.OneTrust = { geolocationResponse: { countryCode: 'FR' } };
    const { answers } = follow(oneTrust());
    vi.advanceTimersByTime(5000);
    let changed = () => {};
    window.OnetrustActiveGroups = ',C0002,';
    window.OneTrust = {
      IsAlertBoxClosed: () => true,
      OnConsentChanged: (listener: () => void) => {
        changed = listener;
      },
    };
    vi.advanceTimersByTime(1000);
    expect(answers).toEqual([true]);
    // The visitor may have refused in another tab meanwhile.
    changed();
    expect(answers).toEqual([true, true]);
  });

  it('that loads late and flips is followed, and its state before the banner closes is no refusal', () => {
    const { answers, stop } = follow(oneTrust());
    vi.advanceTimersByTime(5000);
    let isClosed = false;
    let changed = () => {};
    window.OnetrustActiveGroups = ',C0001,';
    window.OneTrust = {
      IsAlertBoxClosed: () => isClosed,
      OnConsentChanged: (listener: () => void) => {
        changed = listener;
      },
    };
    vi.advanceTimersByTime(1000);
    fire('OneTrustGroupsUpdated');
    expect(answers).toEqual([]);
    isClosed = true;
    window.OnetrustActiveGroups = ',C0001,C0002,';
    fire('OneTrustGroupsUpdated');
    window.OnetrustActiveGroups = ',C0001,C00020,';
    changed();
    expect(answers).toEqual([true, false]);
    stop();
    window.OnetrustActiveGroups = ',C0002,';
    changed();
    expect(answers).toEqual([true, false]);
  });
});

describe('cookiebot', () => {
  it('that loads late and flips is followed, and nothing counts before the visitor responds', () => {
    const { answers } = follow(cookiebot());
    const consent = { statistics: true };
    window.Cookiebot = { hasResponse: false, consent };
    fire('CookiebotOnAccept');
    expect(answers).toEqual([]);
    window.Cookiebot = { hasResponse: true, consent };
    fire('CookiebotOnAccept');
    consent.statistics = false;
    fire('CookiebotOnDecline');
    expect(answers).toEqual([true, false]);
  });
});
