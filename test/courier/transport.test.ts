// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import { REQUEST_TIMEOUT } from '../../src/courier/lease.ts';
import {
  type Answer,
  fetchAtEnd,
  fetchTransport,
  parseRetryAfter,
  type TransportRequest,
} from '../../src/courier/transport.ts';
import { RELAY_HEADER } from '../../src/wire.ts';
import { times } from '../recorder/items.ts';
import { deadUrl, useUpstream } from '../upstream.ts';

const upstream = useUpstream({ [RELAY_HEADER]: '1' });
const AUTHORIZATION = { Authorization: 'Api-Key k' };

const request = (more: Partial<TransportRequest> = {}): TransportRequest => ({
  url: `${upstream.url}/api/events/batch/`,
  body: '{"batch":[]}',
  headers: { 'Content-Type': 'application/json' },
  leaving: false,
  ...more,
});
/** The answer to a request. A rejection counts as a failure, as in the contract of a transport. */
const send = async (more: Partial<TransportRequest> = {}): Promise<Answer> => {
  try {
    return await (fetchTransport(request(more)) as Promise<Answer>);
  } catch (error) {
    return { outcome: 'failed', message: String(error) };
  }
};

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('Retry-After', () => {
  it.each<[string | null, number]>([
    ['7', 7000],
    ['120', 120_000],
    ['0.5', 500],
    ['Sat, 31 Jan 2026 12:00:30 GMT', 30_000],
    [null, 0],
    ['', 0],
    ['soon', 0],
    ['{}', 0],
  ])('%j is %i ms', (value, ms) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 31, 12) });
    expect(parseRetryAfter(value)).toBe(ms);
  });

  it.each(['0', '-5', 'Sat, 31 Jan 2026 11:00:00 GMT'])('%j asks for no wait', (value) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 31, 12) });
    expect(parseRetryAfter(value)).toBeLessThanOrEqual(0);
  });
});

describe('a request', () => {
  it('is a POST of the body with its headers, and without cookies', async () => {
    const sent = vi.spyOn(globalThis, 'fetch');
    await send({ headers: { 'Content-Type': 'application/json', ...AUTHORIZATION } });
    expect(upstream.received).toMatchObject([
      {
        method: 'POST',
        path: '/api/events/batch/',
        text: '{"batch":[]}',
        headers: { 'content-type': 'application/json', authorization: 'Api-Key k' },
      },
    ]);
    // Node keeps no cookies, so the test can check only the option of the request.
    expect(sent.mock.lastCall?.[1]).toMatchObject({ credentials: 'omit' });
  });

  it.each<[string, string | Uint8Array<ArrayBuffer>, leaving: boolean, isKept: boolean]>([
    ['59,999 bytes', 'x'.repeat(59_999), false, true],
    ['60,000 bytes', 'x'.repeat(60_000), false, false],
    ['20,000 characters of three bytes each', '語'.repeat(20_000), false, false],
    ['60,000 bytes, compressed', new Uint8Array(60_000), false, false],
    ['60,000 bytes, while the page leaves', 'x'.repeat(60_000), true, true],
  ])('of %s is kept alive only if the browser has room for it', async (_what, body, leaving, isKept) => {
    const sent = vi.spyOn(globalThis, 'fetch');
    await send({ body, leaving, headers: AUTHORIZATION });
    expect(sent.mock.lastCall?.[1]?.keepalive).toBe(isKept);
  });

  it('fails after 20 s without an answer', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const asked = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 1000));
    upstream.react(() => {});
    expect((await send()).outcome).toBe('failed');
    expect(asked).toHaveBeenCalledWith(REQUEST_TIMEOUT);
    expect(REQUEST_TIMEOUT).toBe(20_000);
  });
});

describe('an answer', () => {
  it.each<[number, Answer['outcome']]>([
    [200, 'delivered'],
    [201, 'delivered'],
    [202, 'delivered'],
    [204, 'delivered'],
    [400, 'rejected'],
    [413, 'rejected'],
    [415, 'rejected'],
    [422, 'rejected'],
    [401, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
    [405, 'refused'],
    [410, 'refused'],
    [408, 'failed'],
    [425, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'failed'],
    [504, 'failed'],
    [511, 'failed'],
  ])('%i is %s, and its status is reported', async (status, outcome) => {
    upstream.answer(status);
    expect(await send()).toMatchObject({ outcome, status });
  });

  it.each([301, 302, 303, 307, 308])('%i is not followed: it counts as failed', async (status) => {
    upstream.react((response, { path }) =>
      path === '/portal' ? response.writeHead(200).end() : response.writeHead(status, { Location: '/portal' }).end(),
    );
    expect((await send()).outcome).toBe('failed');
    expect(upstream.received.map(({ path }) => path)).toEqual(['/api/events/batch/']);
  });

  it.each([
    ['nothing', ''],
    ['HTML', '<!doctype html><title>ok</title>'],
    ['invalid JSON', '{"rejected":['],
    ['null', 'null'],
    ['a number', '7'],
    ['text', '"ok"'],
    ['other JSON', '{"id":"7"}'],
  ])('of %s with status 200 and the relay’s header is a success like any other', async (_what, body) => {
    upstream.answer(200, { 'Content-Type': 'text/html' }, body);
    expect(await send()).toMatchObject({ outcome: 'delivered' });
    expect((await send()).rejected).toBeUndefined();
  });

  describe.each([200, 201, 202, 204])('with status %i', (status) => {
    const react = (type?: string) =>
      upstream.react((response) => response.writeHead(status, type ? { 'Content-Type': type } : {}).end());

    it('counts as failed without the relay’s header, with a message', async () => {
      react('application/json');
      const answer = await send();
      expect(answer).toMatchObject({ outcome: 'failed', status });
      expect(answer.message).toBe(`${status} of another server: no clew-relay, or HTML`);
    });

    it('counts as failed without a relay if it is HTML, with a message', async () => {
      react('text/html; charset=utf-8');
      const answer = await send({ headers: AUTHORIZATION });
      expect(answer).toMatchObject({ outcome: 'failed', status });
      expect(answer.message).toBe(`${status} of another server: no clew-relay, or HTML`);
    });

    it.each([undefined, 'application/json', 'text/plain'])('is a success without a relay as %s', async (type) => {
      react(type);
      expect(await send({ headers: AUTHORIZATION })).toMatchObject({ outcome: 'delivered', status });
    });
  });

  it('names the events that a relay rejected', async () => {
    const rejected = [{ uuid: '01234567-89ab-4cde-8f01-23456789abcd', reason: 'event: expected text' }];
    upstream.answer(201, { 'Content-Type': 'application/json' }, JSON.stringify({ rejected }));
    expect(await send()).toMatchObject({ outcome: 'delivered', rejected });
  });

  it('counts as failed when its body is truncated', async () => {
    upstream.react((response) => {
      response.writeHead(201, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    expect((await send()).outcome).toBe('failed');
  });

  it('counts as failed when the connection is reset or refused', async () => {
    upstream.react((response) => response.destroy());
    expect((await send()).outcome).toBe('failed');
    expect((await send({ url: await deadUrl() })).outcome).toBe('failed');
  });

  it('has the wait and the reason of a failure', async () => {
    upstream.answer(429, { 'Retry-After': '7' }, 'slow down');
    expect(await send()).toMatchObject({ retryAfter: 7000, message: expect.stringMatching(/429.*slow down/) });
    upstream.answer(503);
    expect((await send()).retryAfter).toBe(0);
  });
});

describe('a page that unloads', () => {
  /** A browser that queues beacons, or does not. */
  const browser = (takes: boolean) => {
    const beacons: unknown[][] = [];
    vi.stubGlobal('navigator', {
      sendBeacon: (...beacon: unknown[]) => {
        beacons.push(beacon);
        return takes;
      },
    });
    return beacons;
  };

  it('sends a beacon with the body if no header is needed', async () => {
    const beacons = browser(true);
    expect(await (fetchTransport(request({ leaving: true })) as Promise<Answer>)).toEqual({ outcome: 'delivered' });
    expect(beacons).toEqual([[request().url, request().body]]);
    expect(upstream.received).toEqual([]);
  });

  it('reports that the browser refused the beacon', () => {
    browser(false);
    expect(fetchTransport(request({ leaving: true }))).toBe(false);
  });

  it('sends an ordinary request if the key is in a header', async () => {
    const beacons = browser(true);
    expect((await send({ leaving: true, headers: AUTHORIZATION })).outcome).toBe('delivered');
    expect(beacons).toEqual([]);
    expect(upstream.received[0]?.headers.authorization).toBe('Api-Key k');
  });
});

describe('a request left with the browser (fetchLater)', () => {
  /** A browser that has `fetchLater`, and the requests that it was left with. */
  const browser = () => {
    const left: [url: string, init: RequestInit][] = [];
    vi.stubGlobal('fetchLater', (...later: [string, RequestInit]) => left.push(later));
    return left;
  };

  it('is the POST that would be sent now, and is not sent now', async () => {
    const left = browser();
    const headers = { 'Content-Type': 'application/json', ...AUTHORIZATION };
    fetchAtEnd(request({ headers, leaving: true }));
    expect(left).toMatchObject([
      [request().url, { method: 'POST', body: request().body, headers, credentials: 'omit', redirect: 'error' }],
    ]);
    expect(upstream.received).toEqual([]);
  });

  it('is aborted by its own function only', () => {
    const left = browser();
    const takeBack = times(2, () => fetchAtEnd(request({ leaving: true })));
    const areTaken = () => left.map(([, { signal }]) => signal?.aborted);
    expect(areTaken()).toEqual([false, false]);
    takeBack[0]?.();
    expect(areTaken()).toEqual([true, false]);
    takeBack[0]?.();
    takeBack[1]?.();
    expect(areTaken()).toEqual([true, true]);
  });

  it('throws in browsers without fetchLater', () => {
    expect(() => fetchAtEnd(request({ leaving: true }))).toThrow(ReferenceError);
  });

  it('throws if the browser has no room for it', () => {
    const full = new DOMException('over quota', 'QuotaExceededError');
    vi.stubGlobal('fetchLater', () => {
      throw full;
    });
    expect(() => fetchAtEnd(request({ leaving: true }))).toThrow(full);
  });
});
