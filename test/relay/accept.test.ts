import { describe, expect, it } from 'vitest';
import type { Accept, RelayOptions, RelayReport } from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event, SINGLE, UPSERT } from './stage.ts';

const open = (options: Partial<RelayOptions>) => {
  const { relay, received } = openInMemory(options);
  const post = async (body: object, path?: string, headers?: Record<string, string>) => {
    const response = await relay(requestOf(body, { ...(path && { path }), ...(headers && { headers }) }), {
      address: '10.0.0.1',
    });
    const text = await response.text();
    return { status: response.status, json: text && JSON.parse(text) };
  };
  const forwarded = () => received.map(({ body }) => JSON.parse(body));
  return { post, forwarded, close: relay.close };
};

describe('`allowedEvents`', () => {
  it('rejects other events by name, and forwards the allowed ones and `$identify`', async () => {
    const { post, forwarded } = open({ allowedEvents: ['signup'], allowUnsignedIdentify: true });
    const identify = event('$identify', { payload: { distinct_id: 'ann' } });
    const [signup, paid] = [event('signup'), event('invoice_paid')];
    const rejected = [{ uuid: paid.uuid, reason: 'event: expected one of the relay option allowedEvents' }];
    expect(await post({ batch: [identify, paid, signup] })).toEqual({ status: 201, json: { rejected } });
    expect(await post(paid, SINGLE)).toEqual({ status: 200, json: { rejected } });
    expect(forwarded()).toEqual([{ batch: [identify, signup] }]);
  });
});

describe('`allowedProperties`', () => {
  it('refuses an upsert with another property, by name', async () => {
    const { post, forwarded } = open({ allowedProperties: ['language'], allowUnsignedUpsert: true });
    expect(await post({ primary_key: 'ann', properties: { language: 'en', plan: 'enterprise' } }, UPSERT)).toEqual({
      status: 422,
      json: { error: 'properties.plan: expected one of the relay option allowedProperties' },
    });
    expect((await post({ primary_key: 'ann', properties: { language: 'en' } }, UPSERT)).status).toBe(201);
    expect((await post({ primary_key: 'ann' }, UPSERT)).status).toBe(201);
    expect(forwarded()).toHaveLength(2);
  });
});

/** A rejected promise with `toJSON`, like a promise of Bluebird. */
const written = () => Object.assign(Promise.reject(new Error('away')), { toJSON: () => ({}) });
const never = () => {
  throw new Error('broken');
};

describe('`accept`', () => {
  it('gets each valid event, the request and the address', async () => {
    const seen: unknown[] = [];
    const accept: Accept = (given, { request, address }) => {
      seen.push([given, request.headers.get('User-Agent'), address]);
      return true;
    };
    const { post } = open({ accept });
    const sent = event('a');
    await post({ batch: [{ ...sent, seq: [1, 1], signature: 'x' }, { event: 'bad' }] }, undefined, {
      'User-Agent': 'ua',
    });
    expect(seen).toEqual([[sent, 'ua', '10.0.0.1']]);
  });

  it('drops an event with its reason or without one, and forwards the others', async () => {
    const accept: Accept = async ({ event }) => ({ spam: 'robots do not shop', noise: false })[event] ?? true;
    const { post, forwarded } = open({ accept });
    const [spam, good, noise] = [event('spam'), event('good'), event('noise')];
    expect((await post({ batch: [spam, good, noise] })).json).toEqual({
      rejected: [
        { uuid: spam.uuid, reason: 'robots do not shop' },
        { uuid: noise.uuid, reason: 'not accepted' },
      ],
    });
    expect(forwarded()).toEqual([{ batch: [good] }]);
  });

  it('is not asked about further events of a request that it has held up for `timeout`', async () => {
    let asked = 0;
    let answer = () => {};
    const accept: Accept = () => {
      asked++;
      return new Promise((resolve) => {
        answer = () => resolve(true);
      });
    };
    const { post } = open({ accept, timeout: 20 });
    expect(await post({ batch: [event('a'), event('b')] })).toMatchObject({ status: 500 });
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(1);
  });

  it('is not asked about an event that the service has, but again about one that it dropped', async () => {
    const asked: string[] = [];
    const accept: Accept = ({ event }) => {
      asked.push(event);
      return event === 'good';
    };
    const { post, forwarded } = open({ accept });
    const [good, bad] = [event('good'), event('bad')];
    const rejected = [{ uuid: bad.uuid, reason: 'not accepted' }];
    expect(await post({ batch: [good, bad] })).toEqual({ status: 201, json: { rejected } });
    expect(await post({ batch: [good, bad] })).toEqual({ status: 200, json: { rejected } });
    expect(asked).toEqual(['good', 'bad', 'bad']);
    expect(forwarded()).toEqual([{ batch: [good] }]);
  });

  it('decides about events that are not missing in the report, whatever it decides', async () => {
    const reports: RelayReport[] = [];
    const { post, close } = open({
      accept: ({ event }) => event === 'good',
      onReport: (report) => reports.push(report),
    });
    const correlationValue = '01234567-89ab-4cde-8f01-23456789abcd';
    const names = ['good', 'bad', 'bad', 'good'];
    await post({ batch: names.map((name, n) => event(name, { correlationValue, seq: [1, n + 1] })) });
    await post({
      batch: [event('bad', { correlationValue, seq: [1, 5] }), event('bad', { correlationValue, seq: [1, 6] })],
    });
    await close();
    expect(reports.at(-1)).toEqual({ taken: 2, repeats: 0, rejected: 4, missing: 0, corrected: 0, books: [] });
  });

  it('changes an event, which keeps its id, in a batch and alone', async () => {
    const accept: Accept = (given) => ({ ...given, uuid: 'another', payload: { country: 'AT' }, extra: 1 }) as never;
    const { post, forwarded } = open({ accept });
    const sent = event('a');
    const { timestamp: _, ...alone } = { ...event('b'), payload: { country: 'AT' } };
    await post({ batch: [sent] });
    await post({ ...alone, payload: 1 }, SINGLE);
    expect(forwarded()).toEqual([{ batch: [{ ...sent, payload: { country: 'AT' } }] }, alone]);
  });

  it.each<[string, Accept]>([
    [
      'throws',
      () => {
        throw new Error('the database is away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('the database is away'))],
    ['returns an event that the service would refuse', (given) => ({ ...given, event: '' })],
    ['returns an event that JSON cannot hold', (given) => ({ ...given, payload: { n: 1n } })],
    [
      'returns an event that its own `toJSON` cannot write',
      (given) => ({ ...given, payload: { toJSON: () => never() } }),
    ],
    [
      'returns an event with promises',
      (given) => ({ ...given, payload: { plan: Promise.reject(1), n: Promise.reject(2) } }),
    ],
    ['returns a list with a promise', () => [Promise.reject(1)] as never],
    [
      'returns an event with a cycle and a promise',
      (given) => {
        const payload: Record<string, unknown> = { plan: Promise.reject(1) };
        return { ...given, payload: { self: Object.assign(payload, { payload }), ...payload } };
      },
    ],
    ['returns an event with a promise that JSON would write', (given) => ({ ...given, payload: { plan: written() } })],
    ['returns an event with a Map', (given) => ({ ...given, payload: { plan: new Map() } })],
    ['adds a promise to its event', ({ payload }) => !!Object.assign(payload as object, { plan: Promise.reject(1) })],
    ['returns an invalid date', (given) => ({ ...given, payload: { since: new Date(Number.NaN) } })],
    ['returns nothing', () => undefined as never],
    ['returns null', async () => null as never],
    ['returns an empty text', () => ''],
    [
      'changes its event to one that the service would refuse',
      (given) => Object.assign(given as object, { correlationValue: 'no' }) && true,
    ],
  ])('that %s means 500, which makes the tracker keep its events and bisect', async (_what, accept) => {
    const errors: unknown[] = [];
    const { post, forwarded } = open({ accept, onError: (error) => errors.push(error) });
    const body = { batch: [event('a', { payload: {} })] };
    for (let time = 0; time < 2; time++)
      expect(await post(body)).toEqual({
        status: 500,
        json: { error: 'the relay option accept has failed', status: 500 },
      });
    expect(errors).toHaveLength(2);
    expect(forwarded()).toEqual([]);
  });
});
