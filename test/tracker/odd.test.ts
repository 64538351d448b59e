// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPasses } from '../../src/courier/passes.ts';
import type { Answer } from '../../src/courier/transport.ts';
import type { AnyEvents } from '../../src/index.ts';
import { createMemoryStore, createTestTracker } from '../../src/testing.ts';

type Test = ReturnType<typeof createTestTracker>;

const errorsOf = ({ tracker }: Test): string[] => {
  const errors: string[] = [];
  tracker.on('error', ({ message }) => errors.push(message));
  return errors;
};
const namesOf = ({ events }: Test) => events().map(({ event }) => event);
const boom = () => {
  throw Error('boom');
};

afterEach(() => void vi.restoreAllMocks());

describe('properties that are not sent', () => {
  it('because they are too large are reported', async () => {
    const test = createTestTracker();
    const errors = errorsOf(test);
    test.tracker.identify('ann');
    test.tracker.setProperties({ text: 'x'.repeat(70_000) });
    test.tracker.setProperties({ plan: 'pro' });
    await test.tracker.flush();
    expect(errors).toEqual(['clew: setProperties: too-large']);
    expect(test.upserts()).toMatchObject([{ properties: { plan: 'pro' } }]);
  });

  it('because the queue is full are reported', async () => {
    const test = createTestTracker({ maxQueuedEvents: 5 });
    const errors = errorsOf(test);
    test.tracker.identify('ann');
    await test.tracker.flush();
    test.fail();
    for (let i = 0; i < 9; i++) test.tracker.track('seen');
    test.tracker.setProperties({ plan: 'pro' });
    expect(errors).toEqual(['clew: setProperties: full']);
  });
});

describe("an app's transport", () => {
  it.each<[string, () => unknown]>([
    ['an outcome that is a symbol', () => ({ outcome: Symbol('delivered') })],
    ['an outcome without a prototype', () => ({ outcome: Object.create(null) })],
    ['an outcome that throws', () => Object.defineProperty({}, 'outcome', { get: boom, enumerable: true })],
    ['`rejected` with a `map` that is no function', () => ({ outcome: 'delivered', rejected: { map: 5 } })],
    [
      '`rejected` with an id that throws',
      () => ({ outcome: 'delivered', rejected: [Object.defineProperty({}, 'uuid', { get: boom, enumerable: true })] }),
    ],
    ['an outcome in a list', () => ({ outcome: ['delivered'] })],
    ['what cannot be JSON', () => 7n],
  ])('may answer %s, and delivers afterwards', async (_what, make) => {
    let answer: unknown = make();
    const test = createTestTracker({ flushInterval: 5, transport: async () => answer as Answer });
    test.tracker.track('a');
    await test.tracker.flush();
    answer = { outcome: 'delivered' };
    test.tracker.track('b');
    await test.tracker.flush();
    await test.tracker.flush();
    expect(test.tracker.stats()).toMatchObject({ delivered: 2, queued: 0 });
  });
});

it('reports that a transport gave no message', async () => {
  const test = createTestTracker({ transport: async () => ({ outcome: 'refused' }) });
  const errors = errorsOf(test);
  test.tracker.track('a');
  await test.tracker.flush();
  expect(errors).toEqual(['clew: the transport gave no message']);
});

describe('an app whose objects throw', () => {
  it('reports an option of identify() that cannot be read, and ignores the call', async () => {
    const test = createTestTracker();
    const errors = errorsOf(test);
    const options = Object.defineProperty({}, 'signature', { get: boom, enumerable: true });
    test.tracker.identify('ann', undefined, options);
    await test.tracker.flush();
    expect([errors, namesOf(test)]).toEqual([['clew: boom'], []]);
  });

  it('drops a payload with an error whose message cannot be read', () => {
    const test = createTestTracker();
    const errors = errorsOf(test);
    const payload = {
      get a() {
        throw Object.defineProperty({}, 'message', { get: boom });
      },
    };
    test.tracker.track('seen', payload);
    expect(errors).toEqual(['clew: unknown']);
    expect(test.tracker.stats()).toMatchObject({ tracked: 1, queued: 0, dropped: { unserialisable: 1 } });
  });
});

describe('a refusal', () => {
  it.each<[string, (refuse: () => void) => object]>([
    ['beforeSend', (refuse) => ({ beforeSend: (event: unknown) => [refuse(), event][1] })],
    ['context', (refuse) => ({ context: () => [refuse(), {}][1] })],
  ])('within %s counts the event that is being made once', async (_what, optionsOf) => {
    const test: ReturnType<typeof createTestTracker<AnyEvents>> = createTestTracker<AnyEvents>({
      ...optionsOf(() => test.tracker.consent(false)),
    });
    test.tracker.track('a');
    await test.tracker.flush();
    expect(test.tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { consent: 1 } });
  });

  it('in the payload of an event counts the event once', async () => {
    const test = createTestTracker();
    test.tracker.track('a', { toJSON: () => test.tracker.consent(false) });
    await test.tracker.flush();
    expect(test.tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { consent: 1 } });
  });

  it('in another tab is known to a tracker that was stopped', async () => {
    const store = createMemoryStore();
    const open = () => createTestTracker({ store, baseUrl: '/clew' });
    const [stopped, other] = [open(), open()];
    stopped.tracker.identify('ann');
    await stopped.tracker.flush();
    await other.tracker.flush();
    stopped.tracker.stop();
    other.tracker.consent(false);
    await other.tracker.flush();
    const sent = stopped.requests.length;
    stopped.tracker.track('after');
    await stopped.tracker.flush();
    expect([stopped.requests.length, await store.read('/clew'), Object.keys(store.local ?? {})]).toEqual([
      sent,
      [],
      [],
    ]);
    expect(stopped.tracker.stats().dropped).toEqual({ consent: 1 });
  });
});

it('a tracker that was stopped goes on with the visitor of the other tabs', async () => {
  const options = { baseUrl: '/clew', store: createMemoryStore() };
  const [stopped, other] = [createTestTracker(options), createTestTracker(options)];
  stopped.tracker.identify('ann');
  await stopped.tracker.flush();
  stopped.tracker.stop();
  other.tracker.reset();
  other.tracker.identify('bob');
  await other.tracker.flush();
  stopped.tracker.track('after');
  const next = createTestTracker(options);
  await next.tracker.flush();
  const correlationValue = await other.tracker.correlationValue();
  const sent = [...stopped.events(), ...next.events()];
  expect(sent.find(({ event }) => event === 'after')).toMatchObject({ correlationValue });
});

it('correlationValue() settles on a tracker that was stopped early', async () => {
  const options = { baseUrl: '/clew', store: createMemoryStore() };
  const early = createTestTracker(options);
  const visitorId = early.tracker.correlationValue();
  early.tracker.stop();
  const next = createTestTracker(options);
  expect([await visitorId, await early.tracker.correlationValue()]).toEqual(
    Array(2).fill(await next.tracker.correlationValue()),
  );

  const waiting = createTestTracker({ consent: 'required' });
  const asked = waiting.tracker.correlationValue();
  waiting.tracker.stop();
  await expect(asked).rejects.toThrow('clew: correlationValue: the tracker was stopped');
  await expect(waiting.tracker.correlationValue()).rejects.toThrow('stopped');
});

it('flush() and correlationValue() settle behind properties that a stopped tracker leaves to the next page', async () => {
  const options = { baseUrl: '/clew', store: createMemoryStore() };
  const { tracker } = createTestTracker(options);
  tracker.setProperties({ plan: 'pro' });
  tracker.reset();
  const waiting = [tracker.correlationValue(), tracker.flush()] as const;
  tracker.stop();
  const [visitorId] = await Promise.all(waiting);
  // The reset behind the properties has taken effect.
  expect(await createTestTracker(options).tracker.correlationValue()).toBe(visitorId);
});

it('a tracker that was stopped does not begin with a consent', async () => {
  const test = createTestTracker({ consent: 'required' });
  test.tracker.stop();
  test.tracker.consent(true);
  test.tracker.track('after');
  await test.tracker.flush();
  expect(test.requests).toEqual([]);
});

it('a tracker that was stopped does not begin again, whatever is called on it', async () => {
  const test = createTestTracker();
  await test.tracker.flush();
  test.tracker.stop();
  test.tracker.track('handed over');
  await test.tracker.flush();
  const sent = test.requests.length;
  test.tracker.consent(false);
  test.tracker.consent(true);
  test.tracker.track('after');
  await test.tracker.flush();
  expect(test.requests).toHaveLength(sent);
  expect(test.tracker.stats()).toMatchObject({ queued: 0, dropped: { consent: 2 } });
});

describe('services whose names begin alike', () => {
  const leave = async (store: ReturnType<typeof createMemoryStore>, storageName: string) => {
    const test = createTestTracker({ store, storageName });
    test.fail();
    test.tracker.track('theirs');
    test.tracker.stop();
    await test.tracker.flush();
  };

  it('do not take in what pages of the others have journaled', async () => {
    const store = createMemoryStore();
    await leave(store, 'shop eu');
    const journaled = { ...store.local };
    const test = createTestTracker({ store, storageName: 'shop' });
    test.tracker.track('mine');
    await test.tracker.flush();
    expect(namesOf(test)).toEqual(['mine']);
    expect(store.local).toMatchObject(
      Object.fromEntries(Object.entries(journaled).filter(([key]) => key.startsWith('clew.page'))),
    );
  });

  it('do not delete, by a refusal, what pages of the others have journaled', async () => {
    const store = createMemoryStore();
    await leave(store, 'shop eu');
    const journals = () => Object.keys(store.local ?? {}).filter((key) => key.startsWith('clew.page'));
    const before = journals();
    createTestTracker({ store, storageName: 'shop' }).tracker.consent(false);
    expect(journals()).toEqual(before);
    expect(before).toHaveLength(1);
  });
});

describe('a pass', () => {
  it('that is further off than timers count does not run at once', () => {
    const timer = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(0 as never);
    createPasses(async () => {}).schedule(Number.POSITIVE_INFINITY);
    expect(timer.mock.lastCall?.[1]).toBe(2 ** 31 - 1);
  });

  it('that fails ends no later one', async () => {
    const runs = vi.fn().mockRejectedValueOnce(Error('boom'));
    const passes = createPasses(runs);
    await passes.flush().catch(() => {});
    await passes.flush();
    expect(runs).toHaveBeenCalledTimes(2);
  });
});

describe('the journal', () => {
  it('is written once for all calls of a task, and not once for each', async () => {
    const store = createMemoryStore();
    let writes = 0;
    const local = new Proxy(store.local ?? {}, {
      set(target, key, value) {
        if (String(key).startsWith('clew.page')) writes++;
        return Reflect.set(target, key, value);
      },
    });
    const test = createTestTracker({ store: { ...store, local } });
    test.tracker.identify('ann');
    for (let i = 0; i < 50; i++) test.tracker.setProperties({ i });
    await test.tracker.flush();
    expect(test.upserts()).toHaveLength(50);
    expect(writes).toBeLessThan(10);
  });
});
