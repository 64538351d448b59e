// @module-tag promise
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTracker, type TrackerOptions } from '../../src/index.ts';
import { type SessionState, sessionFollower } from '../../src/page/session.ts';
import { signIdentity } from '../../src/relay.ts';
import { createMemoryStore, createTestTracker } from '../../src/testing.ts';
import { connectTabs } from '../support/tabs.ts';

// Node's own BroadcastChannel connects all test files that run at the same time.
beforeEach(() => void connectTabs());

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A page that follows sessions. Pages with the same store are of one browser. */
const open = (options: Partial<TrackerOptions> = {}) => {
  const test = createTestTracker({ baseUrl: '/clew', ...options });
  const errors: string[] = [];
  test.tracker.on('error', ({ message }) => errors.push(message));
  stops.push(test.tracker.stop);
  const follower = sessionFollower(test.tracker);
  const follow = (session: SessionState) => {
    follower.latest = session;
    follower.follow();
  };
  /** Follows sessions, and tracks one event after each. */
  const run = async (...sessions: SessionState[]) => {
    for (const session of sessions) {
      follow(session);
      test.tracker.track('seen');
    }
    await test.tracker.flush();
  };
  /** The customers to whom the events belong, as the service sees it. */
  const owners = () => {
    const known = new Map<string, unknown>();
    for (const { correlationValue, payload } of test.events('$identify'))
      known.set(correlationValue, (payload as { distinct_id: string }).distinct_id);
    return test.events('seen').map(({ correlationValue }) => known.get(correlationValue) ?? 'nobody');
  };
  const visitors = () => [...new Set(test.events().map(({ correlationValue }) => correlationValue))];
  return { ...test, errors, follow, run, owners, visitors };
};

const keys = { audience: 'shop.example', keys: [{ id: '1', secret: 'a secret of at least thirty-two bytes' }] };
const ann = { primaryKey: 'ann' };
const bob = { primaryKey: 'bob' };

describe('a session', () => {
  it('identifies its customer once, with properties and signature', async () => {
    const { run, events, upserts } = open();
    const session = { primaryKey: 'ann', properties: { plan: 'pro' }, signature: 'proof' };
    await run(session, { ...session, properties: { plan: 'pro' } });
    expect(events('$identify')).toMatchObject([{ payload: { distinct_id: 'ann' }, signature: 'proof' }]);
    expect(upserts()).toEqual([{ primary_key: 'ann', properties: { plan: 'pro' }, signature: 'proof' }]);
  });

  it('as a token identifies the customer of the token, with its properties', async () => {
    const { run, events, upserts, errors } = open();
    const name = 'Ännchen?>~ 🧶';
    const token = await signIdentity({ primaryKey: name, expiresIn: 60, properties: { plan: 'pro' } }, keys);
    await run(token);
    expect(events('$identify')).toMatchObject([{ payload: { distinct_id: name }, signature: token }]);
    expect(upserts()).toEqual([{ primary_key: name, properties: { plan: 'pro' }, signature: token }]);
    expect(errors).toEqual([]);
  });

  it.each(['ann', 'a.b.c', '<html>.<p>', 'e30.e30.e30', 'e30.bnVsbA.e30', ''])(
    'as the text %j, which is no token, emits an error',
    async (text) => {
      const { run, events, errors, visitors } = open();
      await run(text, text, null);
      expect(events('$identify')).toEqual([]);
      // There was no session that could end.
      expect(visitors()).toHaveLength(1);
      expect(errors).toEqual([
        'clew: useIdentity: expected an identity token, or primaryKey as a non-empty string, found a text that is no token',
      ]);
    },
  );

  it.each([
    ['a text that is no token', 'bob'],
    ['primaryKey: undefined', { id: 'bob' }],
    ['primaryKey: number', { primaryKey: 7 }],
    ['primaryKey: string', { primaryKey: '' }],
    ['primaryKey: undefined', false],
    ['primaryKey: bigint', { primaryKey: 7n }],
  ])('with %s in the place of a customer ends the session before, and emits one error', async (found, wrong) => {
    const { run, owners, errors } = open();
    await run(ann, wrong as SessionState, wrong as SessionState, null);
    expect(owners()).toEqual(['ann', 'nobody', 'nobody', 'nobody']);
    expect(errors).toEqual([expect.stringContaining(`found ${found}`)]);
  });

  it('that is wrong, and then wrong otherwise, emits an error each time', async () => {
    const { run, errors, visitors } = open();
    const sessions = [{ primaryKey: 7 }, { primaryKey: 8 }, 'bob', { id: 'bob' }];
    await run(...(sessions as SessionState[]));
    expect(errors).toHaveLength(4);
    expect(visitors()).toHaveLength(1);
  });

  it('with a new token of the same customer sends no second $identify, and uses the new token', async () => {
    const { run, tracker, events, upserts } = open();
    const claims = { primaryKey: 'ann', properties: { plan: 'pro' } };
    const one = await signIdentity({ ...claims, expiresIn: 60 }, keys);
    const two = await signIdentity({ ...claims, expiresIn: 90 }, keys);
    await run(one, two);
    tracker.setProperties({ fibre: 'wool' });
    await tracker.flush();
    expect(events('$identify')).toMatchObject([{ signature: one }]);
    expect(upserts()).toMatchObject([
      { properties: { plan: 'pro' }, signature: one },
      { properties: { fibre: 'wool' }, signature: two },
    ]);
  });

  it('with other properties of the same customer sends only these', async () => {
    const { run, events, upserts } = open();
    await run({ ...ann, properties: { plan: 'free' } }, { ...ann, properties: { plan: 'pro' } });
    expect(events('$identify')).toHaveLength(1);
    expect(upserts().map(({ properties }) => properties)).toEqual([{ plan: 'free' }, { plan: 'pro' }]);
  });

  it('with properties that JSON cannot express identifies, and emits `error`', async () => {
    const { run, owners, errors } = open();
    await run({ ...ann, properties: { big: 1n } }, { ...bob, properties: { big: 1n } });
    expect(owners()).toEqual(['ann', 'bob']);
    expect(errors).toHaveLength(2);
  });

  it('that is not known yet changes nothing', async () => {
    const { run, owners, visitors } = open();
    await run(undefined, ann, undefined, ann, undefined);
    expect(owners()).toEqual(['ann', 'ann', 'ann', 'ann', 'ann']);
    expect(visitors()).toHaveLength(1);
  });

  it('that is null does not reset a visitor id that no session has identified', async () => {
    const { run, visitors, tracker } = open();
    await run(null);
    tracker.identify('a reader by newsletter');
    await run(undefined, null);
    expect(visitors()).toHaveLength(1);
  });

  it('that ends resets once', async () => {
    const { run, owners, visitors } = open();
    await run(ann, null, null, undefined, null);
    expect(owners()).toEqual(['ann', 'nobody', 'nobody', 'nobody', 'nobody']);
    expect(visitors()).toHaveLength(2);
  });

  it('that changes quickly gives each event to its customer', async () => {
    const { run, owners, events } = open();
    await run(ann, null, bob, null, ann, bob, undefined, bob);
    // Events of an anonymous visitor belong to whom the visitor then turns out to be.
    expect(owners()).toEqual(['ann', 'bob', 'bob', 'ann', 'ann', 'bob', 'bob', 'bob']);
    expect(events('$identify')).toHaveLength(4);
  });
});

describe('a log-out', () => {
  it('by a navigation resets on the next page, once', async () => {
    const store = createMemoryStore();
    const first = open({ store });
    await first.run(ann);
    first.tracker.stop();
    const second = open({ store });
    await second.run(undefined, null);
    expect(second.visitors()).toHaveLength(2);
    expect(second.visitors()[0]).toBe(first.visitors()[0]);
    second.tracker.stop();
    const third = open({ store });
    await third.run(null);
    expect(third.visitors()).toEqual([second.visitors()[1]]);
  });

  it('by a navigation, on pages that wait for consent, resets once', async () => {
    const store = createMemoryStore();
    const first = open({ store, consent: 'required' });
    first.follow(ann);
    first.tracker.consent(true);
    await first.run(ann);
    first.tracker.stop();
    const pages = [];
    for (let n = 0; n < 3; n++) {
      const page = open({ store, consent: 'required' });
      page.follow(null);
      page.tracker.track('seen');
      page.tracker.consent(true);
      await page.tracker.flush();
      pages.push(...page.visitors());
      page.tracker.stop();
    }
    expect(pages).not.toContain(first.visitors()[0]);
    expect(new Set(pages).size).toBe(1);
  });

  it('that the app has reset itself, or another tab, starts no second visitor id', async () => {
    const { run, tracker, visitors, owners } = open();
    await run(ann);
    tracker.reset();
    await run(null);
    expect(visitors()).toHaveLength(2);
    expect(owners()).toEqual(['ann', 'nobody']);
  });

  it('that comes late, after another customer was identified elsewhere, does not reset that customer', async () => {
    const { run, tracker, owners, upserts } = open();
    await run(ann);
    tracker.identify('bob');
    await run({ ...ann, properties: { plan: 'pro' } }, null);
    expect(owners()).toEqual(['ann', 'bob', 'bob']);
    expect(upserts()).toEqual([]);
  });

  it('before consent resets in its turn', async () => {
    const { run, tracker, owners } = open({ consent: 'required' });
    const done = run(ann, null);
    tracker.consent(true);
    await done;
    await tracker.flush();
    expect(owners()).toEqual(['ann', 'nobody']);
  });
});

it('a refusal and a later consent identify the customer of the session again', async () => {
  const { run, tracker, owners, visitors } = open();
  await run(ann);
  tracker.consent(false);
  tracker.consent(true);
  await run(ann);
  expect(owners()).toEqual(['ann', 'ann']);
  expect(visitors()).toHaveLength(2);
});

it('a page whose visitor has not answered yet survives a log-out, and resets once', async () => {
  const store = createMemoryStore();
  const first = open({ store, consent: 'required' });
  first.tracker.consent(true);
  await first.run(ann);
  first.tracker.stop();
  const second = open({ store, consent: 'required' });
  const reset = vi.spyOn(second.tracker, 'reset');
  second.follow(null);
  // Endless microtasks would freeze the page.
  await new Promise((resolve) => setTimeout(resolve));
  second.tracker.consent(true);
  await second.run(null);
  expect(reset).toHaveBeenCalledOnce();
  expect(second.visitors()).not.toEqual(first.visitors());
});

it('the customer of the session is identified if the visitor consents in spite of Global Privacy Control', async () => {
  vi.stubGlobal('navigator', { onLine: true, globalPrivacyControl: true });
  const { run, follow, tracker, owners } = open({ respectGpc: true });
  follow(ann);
  tracker.consent(true);
  await run(ann);
  expect(owners()).toEqual(['ann']);
});

it('a log-out by a navigation resets once, although each page consents in spite of Global Privacy Control', async () => {
  vi.stubGlobal('navigator', { onLine: true, globalPrivacyControl: true });
  const options = { store: createMemoryStore(), respectGpc: true };
  const first = open(options);
  first.follow(ann);
  first.tracker.consent(true);
  await first.run(ann);
  first.tracker.stop();
  const ids = [];
  for (let n = 0; n < 3; n++) {
    const { follow, run, tracker, visitors } = open(options);
    follow(null);
    tracker.consent(true);
    await run(null);
    ids.push(...visitors());
    tracker.stop();
  }
  expect(ids).toHaveLength(3);
  expect(ids).not.toContain(first.visitors()[0]);
  expect(new Set(ids).size).toBe(1);
});

it('a session whose primary key is no text is one error, also after consent', async () => {
  const { run, follow, tracker, errors } = open({ consent: 'required' });
  const session = { primaryKey: 7 as unknown as string };
  follow(session);
  tracker.consent(true);
  await run({ ...session }, null);
  expect(errors).toEqual([expect.stringContaining('found primaryKey: number')]);
});

describe('another tab', () => {
  it('that has logged out keeps its visitor, whatever the proof of the session is here', async () => {
    const store = createMemoryStore();
    const [one, two] = [open({ store }), open({ store })];
    await one.run({ ...ann, signature: 'one' });
    two.tracker.reset();
    await two.run();
    await one.run({ ...ann, signature: 'two' }, { ...ann, signature: 'three', properties: { plan: 'pro' } });
    two.tracker.track('seen');
    await two.tracker.flush();
    const ids = [one, two].flatMap(({ events }) => events('$identify')).map(({ correlationValue }) => correlationValue);
    expect(ids).toEqual([one.visitors()[0]]);
    expect(ids).not.toContain(two.visitors()[0]);
    expect([...one.upserts(), ...two.upserts()]).toEqual([]);
  });

  it('that has logged in the same customer again follows this one', async () => {
    const store = createMemoryStore();
    const [one, two] = [open({ store }), open({ store })];
    await one.run({ ...ann, signature: 'one' });
    two.tracker.reset();
    two.tracker.identify('ann');
    await two.run();
    await one.run({ ...ann, signature: 'two', properties: { plan: 'pro' } }, null);
    expect([...one.upserts(), ...two.upserts()]).toMatchObject([{ properties: { plan: 'pro' }, signature: 'two' }]);
    const [, again] = [one, two].map(({ visitors }) => visitors());
    expect(again).not.toContain(await one.tracker.correlationValue());
  });

  it('that has identified another customer before consent keeps that customer', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const store = createMemoryStore();
    const [one, two] = [open({ store, consent: 'required' }), open({ store, consent: 'required' })];
    one.follow(ann);
    vi.setSystemTime(Date.now() + 1000);
    two.tracker.identify('bob');
    vi.setSystemTime(Date.now() + 1000);
    two.tracker.consent(true);
    await two.run();
    one.tracker.consent(true);
    await one.run();
    const bob = await two.tracker.correlationValue();
    expect(await one.tracker.correlationValue()).toBe(bob);
    await one.run({ ...ann, properties: { street: "ann's" } }, null);
    expect([...one.upserts(), ...two.upserts()]).toEqual([]);
    expect(await two.tracker.correlationValue()).toBe(bob);
  });
});

it('there is one follower for each tracker, so that components may mount again', () => {
  const { tracker } = open();
  expect(sessionFollower(tracker)).toBe(sessionFollower(tracker));
  expect(sessionFollower(open().tracker)).not.toBe(sessionFollower(tracker));
});

it('a tracker on a server, or one that was stopped, follows without an error', () => {
  const silent = createTracker({ baseUrl: '/clew' });
  const { tracker } = createTestTracker();
  tracker.stop();
  for (const each of [silent, tracker])
    for (const session of [ann, null, bob]) {
      const follower = sessionFollower(each);
      follower.latest = session;
      expect(() => follower.follow()).not.toThrow();
    }
});
