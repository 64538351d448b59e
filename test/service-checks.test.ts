import { describe, expect, it } from 'vitest';
import { createService, type Service, ServiceError, type ServiceEvent } from '../src/service.ts';
import { useUpstream } from './upstream.ts';

const VISITOR_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const upstream = useUpstream();
const connect = (apiKey = 'secret-key') => createService({ baseUrl: upstream.url, apiKey });
const event = (more: object = {}) => ({ event: 'a', correlationValue: VISITOR_ID, ...more }) as ServiceEvent;

describe('an event that the service would refuse is named, and nothing is sent:', () => {
  const key = (distinct_id: unknown) => event({ event: '$identify', payload: { distinct_id } });
  it.each<[string, unknown]>([
    ['expected an object, got null', null],
    ['expected an object, got a string', 'a'],
    ['event: expected a non-empty string, got nothing', { correlationValue: VISITOR_ID }],
    ['correlationKey: expected a non-empty string, got a number', event({ correlationKey: 7 })],
    ['correlationValue: expected a lower-case UUID, got "ann"', event({ correlationValue: 'ann' })],
    ['correlationValue: expected a lower-case UUID, got nothing', event({ correlationValue: undefined })],
    ['uuid: expected a lower-case UUID, got 7', event({ uuid: 7 })],
    ['timestamp: expected an ISO 8601 date and time, got "today"', event({ timestamp: 'today' })],
    ['timestamp: expected an ISO 8601 date and time, got a Date', event({ timestamp: new Date() })],
    ['expected an object, got a list', [1]],
    ['expected an object, got a Date', new Date()],
    ['payload.distinct_id: expected a non-empty string, got 4711', key(4711)],
    ['payload.distinct_id: expected a non-empty string, got ""', key('')],
    ['seats: expected a value that JSON can hold, got NaN', event({ payload: { seats: Number.NaN } })],
    ['seats: expected a value that JSON can hold, got NaN', event({ payload: { seats: new Number(Number.NaN) } })],
    ['at: expected a value that JSON can hold, got Invalid Date', event({ payload: { at: new Date(Number.NaN) } })],
    ['seats: expected a value that JSON can hold, got a bigint', event({ payload: { seats: 1n } })],
    ['payload.distinct_id: expected a non-empty string, got 7', key({ toJSON: () => 7 })],
    ['expected an object, got undefined', undefined],
    ['correlationValue: expected', Object.assign(event(), { toJSON: () => ({ event: 'a' }) })],
  ])('%s', async (fault, bad) => {
    const sending = connect().sendBatch([event(), bad as ServiceEvent]);
    await expect(sending).rejects.toThrow(TypeError);
    await expect(sending).rejects.toThrow(`sendBatch: events[1]: ${fault}`);
    expect(upstream.received).toEqual([]);
  });

  it('a hole of an array', async () => {
    await expect(connect().sendBatch(new Array(2))).rejects.toThrow('sendBatch: events[0]: expected an object');
    expect(upstream.received).toEqual([]);
  });

  it('data that contain themselves', async () => {
    const payload: Record<string, unknown> = {};
    payload.self = payload;
    await expect(connect().sendBatch([event({ payload })])).rejects.toThrow(
      'sendBatch: events[0]: expected a value that',
    );
  });

  it.each([new Error('no time'), Symbol('no time'), null])('a getter that throws %s', async (thrown) => {
    const get = () => {
      throw thrown;
    };
    const bad = Object.defineProperty(event(), 'timestamp', { get, enumerable: true });
    const expected = `expected a value that JSON can hold: ${String(thrown)}`;
    await expect(connect().sendBatch([bad])).rejects.toThrow(new TypeError(`sendBatch: events[0]: ${expected}`));
    await expect(connect().sendEvent(bad as never)).rejects.toThrow(new TypeError(`sendEvent: ${expected}`));
  });

  it('no array of events', async () => {
    await expect(connect().sendBatch(event() as never)).rejects.toThrow('sendBatch: events: expected an array, got');
  });

  it('`$identify` at the single-event endpoint, where it identifies no customer', async () => {
    const identify = event({ event: '$identify', payload: { distinct_id: 'ann' } });
    await expect(connect().sendEvent(identify as never)).rejects.toThrow(
      'sendEvent: event: expected another name than $identify, which needs sendBatch',
    );
    await expect(connect().sendEvent(event({ correlationValue: 'x' }) as never)).rejects.toThrow(
      'sendEvent: correlationValue',
    );
    expect(upstream.received).toEqual([]);
  });

  it('a `timestamp` at the single-event endpoint, which takes none', async () => {
    for (const timestamp of ['2026-01-31T12:00:00.000Z', new Date(), null])
      await expect(connect().sendEvent(event({ timestamp }) as never)).rejects.toThrow(
        new TypeError('sendEvent: timestamp: expected none, because a past event needs sendBatch'),
      );
    expect(upstream.received).toEqual([]);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  it.each<[string, unknown, unknown]>([
    ['primaryKey: expected a non-empty string, got 7', 7, undefined],
    ['primaryKey: expected a non-empty string, got a bigint', 1n, undefined],
    ['primaryKey: expected a non-empty string, got an object', cycle, undefined],
    ['primaryKey: expected a non-empty string, got an object', { toJSON: JSON.parse }, undefined],
    ['primaryKey: expected at most 500 characters, got 501', 'x'.repeat(501), undefined],
    ['properties: expected an object, got a string', 'ann', 'pro'],
    ['properties: expected an object, got null', 'ann', null],
    ['properties: expected an object, got a list', 'ann', [1]],
    ['properties: expected an object, got a Date', 'ann', new Date()],
    ['properties: expected an object, got a string', 'ann', new URL('https://shop.example')],
    ['properties: expected an object, got a list', 'ann', { toJSON: () => [1] }],
    ['properties: expected an object, got undefined', 'ann', { toJSON: () => undefined }],
    ['properties: expected an object, got a function', 'ann', () => ({})],
    ['seats: expected a value that JSON can hold, got Infinity', 'ann', { seats: Number.POSITIVE_INFINITY }],
    ['trial_ends: expected a value that JSON can hold, got Invalid Date', 'ann', { trial_ends: new Date(Number.NaN) }],
  ])('an upsert, %s', async (fault, primaryKey, properties) => {
    const upserting = connect().upsertCustomer(primaryKey as string, properties as Record<string, unknown>);
    await expect(upserting).rejects.toThrow(TypeError);
    await expect(upserting).rejects.toThrow(`upsertCustomer: ${fault}`);
    expect(upstream.received).toEqual([]);
  });
});

it('UUIDs are sent in lower case', async () => {
  const upper = VISITOR_ID.toUpperCase();
  await connect().sendBatch([event({ correlationValue: upper, uuid: upper })]);
  await connect().sendEvent(event({ correlationValue: upper, uuid: upper }) as never);
  const lower = { uuid: VISITOR_ID, correlationValue: VISITOR_ID };
  expect(upstream.bodies()).toMatchObject([{ batch: [lower] }, lower]);
});

it.each(['null', '"c7"', '[]', '{}', '{"id":7}', '{"id":""}'])(
  'an answer to an upsert without an id is an error with its status: %s',
  async (text) => {
    upstream.answer(201, {}, text);
    await expect(connect().upsertCustomer('ann')).rejects.toMatchObject({
      name: 'ServiceError',
      status: 201,
      detail: `expected an object with an id that is a text, got ${text}`,
    });
  },
);

it('an id is returned as it is, although it contains the key', async () => {
  upstream.answer(201, {}, '{"id":"device-17"}');
  expect(await connect('dev').upsertCustomer('ann')).toEqual({ id: 'device-17' });
});

it.each([2 ** 31, Number.POSITIVE_INFINITY, 0])('a `timeout` of %d throws', (timeout) => {
  expect(() => createService({ baseUrl: 'https://service.example', apiKey: 'k', timeout })).toThrow(
    'createService: timeout: expected a number above 0, at most 2147483647',
  );
});

it('a `timestamp` that is undefined is the present time', async () => {
  await connect().sendBatch([event({ timestamp: undefined })]);
  expect(upstream.bodies()).toMatchObject([{ batch: [{ timestamp: expect.stringMatching(/^\d{4}-.*Z$/) }] }]);
});

describe('a call that is refused leaves no unhandled rejection, which ends a process of Node:', () => {
  const failed = () => Promise.reject(new Error('no database'));
  it.each<[string, (service: Service) => Promise<unknown>]>([
    ['an event after the invalid one', (to) => to.sendBatch([event({ uuid: 7 }), event({ payload: { a: failed() } })])],
    ['the events', (to) => to.sendBatch(failed() as never)],
    ['the event', (to) => to.sendEvent(failed() as never)],
    ['the primary key', (to) => to.upsertCustomer(failed() as never)],
    ['the properties of a wrong primary key', (to) => to.upsertCustomer('', { plan: failed() })],
    ['the properties', (to) => to.upsertCustomer('ann', failed() as never)],
  ])('a promise for %s', async (_what, call) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      await expect(call(connect())).rejects.toThrow(TypeError);
      // Node reports a rejection after the microtasks of the task.
      await new Promise(setImmediate);
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(unhandled).toEqual([]);
  });
});

describe('an event with `toJSON` is judged and sent as its JSON:', () => {
  const past = '2020-01-31T12:00:00.000Z';
  const as = (json: object): ServiceEvent => Object.assign(event(), { toJSON: () => json });

  it('its time stays, also if the time has `toJSON`, as of Day.js', async () => {
    await connect().sendBatch([as(event({ timestamp: past })), event({ timestamp: { toJSON: () => past } })]);
    expect(upstream.bodies()).toMatchObject([{ batch: [{ timestamp: past }, { timestamp: past }] }]);
  });

  it.each([
    ['event: expected another name', { event: '$identify', payload: { distinct_id: 'ann' } }],
    ['timestamp: expected none', { timestamp: past }],
  ])('`sendEvent` refuses %s', async (fault, json) => {
    await expect(connect().sendEvent(as(event(json)) as never)).rejects.toThrow(`sendEvent: ${fault}`);
    expect(upstream.received).toEqual([]);
  });
});

describe('upserts of one primary key', () => {
  /** The primary keys of the requests, and how to answer each of them. */
  const hold = () => {
    const answers: (() => void)[] = [];
    upstream.react((response) => answers.push(() => response.writeHead(201).end('{"id":"c7"}')));
    const begun = async (count: number) => {
      await expect.poll(() => answers.length).toBe(count);
      return upstream.bodies().map((body) => (body as { properties: object }).properties);
    };
    return { answers, begun };
  };

  it('wait for each other, in order, as they were when they were made', async () => {
    const { answers, begun } = hold();
    const service = connect();
    const properties = { n: 2 };
    const calls = [service.upsertCustomer('ann', { n: 1 }), service.upsertCustomer('ann', properties)];
    properties.n = 3;
    const other = service.upsertCustomer('ben', { n: 4 });
    // Another key does not wait.
    expect(await begun(2)).toEqual(expect.arrayContaining([{ n: 1 }, { n: 4 }]));
    for (const answer of answers) answer();
    expect((await begun(3))[2]).toEqual({ n: 2 });
    answers[2]?.();
    expect(await Promise.all([...calls, other])).toEqual(Array(3).fill({ id: 'c7' }));
  });

  it('go on after one that failed', async () => {
    const service = connect();
    upstream.answer(500);
    const failed = service.upsertCustomer('ann');
    const next = service.upsertCustomer('ann');
    await expect(failed).rejects.toThrow(ServiceError);
    await expect(next).rejects.toThrow(ServiceError);
    expect(upstream.received).toHaveLength(2);
  });
});

it.each(['secret-key', 'a "quoted" \\ key'])('an error has no key that the service repeats: %s', async (apiKey) => {
  for (const [status, text] of [
    [401, `no such key: ${apiKey}`],
    [500, JSON.stringify({ Authorization: `Api-Key ${apiKey}` })],
    [200, `<h1>${apiKey}</h1>`],
  ] as const) {
    upstream.answer(status, {}, text);
    const error = await connect(apiKey)
      .upsertCustomer('ann')
      .catch((thrown: ServiceError) => thrown);
    expect((error as ServiceError).detail).toContain('…');
    const { message, stack, detail, cause } = error as ServiceError;
    expect([message, stack, detail, cause].join()).not.toMatch(/secret-key|quoted/);
  }
});
