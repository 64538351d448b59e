import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryBooks } from '../../src/relay/bookStore.ts';
import { type LogLine, memorySeen, type RelayOptions, type RelayReport, type Seen } from '../../src/relay.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event, KEY } from './stage.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: Date.UTC(2026, 0, 31, 12) });
});
afterEach(() => {
  vi.useRealTimers();
});

const open = (options: Partial<RelayOptions> = {}) => {
  let answer = async () => new Response(null, { status: 201 });
  const { relay } = openInMemory({ forward: () => answer(), ...options });
  return {
    relay,
    post: (...events: object[]) => relay(requestOf({ batch: events })),
    get: async (path: string, method = 'GET') => {
      const response = await relay(requestOf('', { path, method }));
      return { status: response.status, type: response.headers.get('Content-Type'), text: await response.text() };
    },
    answerWith: (next: () => Promise<Response>) => {
      answer = next;
    },
  };
};

describe('GET …/health', () => {
  const check = async ({ get }: ReturnType<typeof open>, method?: string) => {
    const { status, text } = await get('/clew/health', method);
    return [status, text && JSON.parse(text)];
  };

  it('is 200 while `seen` and the service answer', async () => {
    const opened = open();
    expect(await check(opened)).toEqual([200, { live: true, ready: true, seen: true, service: true }]);
    expect(await opened.relay.health()).toMatchObject({ ready: true });
    expect((await opened.get('/clew/health', 'HEAD')).status).toBe(200);
    expect((await opened.get('/clew/health', 'POST')).status).not.toBe(200);
  });

  it.each<[string, () => Promise<never>]>([
    ['rejects', () => Promise.reject(new Error('away'))],
    ['does not answer', () => new Promise(() => {})],
  ])('is 503 while `seen` %s, asks at most once a second, and live all the same', async (_what, reserve) => {
    const asked = vi.fn(reserve);
    const opened = open({ seen: { ...memorySeen(), reserve: asked } });
    const checks = [check(opened), check(opened)];
    await vi.advanceTimersByTimeAsync(1000);
    for (const answer of await Promise.all(checks))
      expect(answer).toEqual([503, { live: true, ready: false, seen: false, service: true }]);
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await opened.get('/clew/health/live')).toMatchObject({ status: 200, text: '{"live":true}' });
  });

  it.each<[string, () => Promise<Response>]>([
    ['without an answer', () => Promise.reject(new Error('away'))],
    ['with 503', async () => new Response(null, { status: 503 })],
  ])('is 503 after five requests in a row %s, until one succeeds or 10 s pass', async (_what, fail) => {
    const opened = open();
    opened.answerWith(fail);
    for (let n = 0; n < 4; n++) await opened.post(event('a'));
    expect(await check(opened)).toMatchObject([200, {}]);
    await opened.post(event('a'));
    expect(await check(opened)).toEqual([503, { live: true, ready: false, seen: true, service: false }]);
    await vi.advanceTimersByTimeAsync(10_001);
    expect(await check(opened)).toMatchObject([200, {}]);
    await opened.post(event('a'));
    expect(await check(opened)).toMatchObject([503, {}]);
    opened.answerWith(async () => new Response(null, { status: 201 }));
    await opened.post(event('a'));
    expect(await check(opened)).toMatchObject([200, {}]);
  });

  it('is 200 again 10 s after five failures, also if the clock is set back meanwhile', async () => {
    const opened = open();
    opened.answerWith(() => Promise.reject(new Error('away')));
    for (let n = 0; n < 5; n++) await opened.post(event('a'));
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(10_001);
    expect(await check(opened)).toMatchObject([200, {}]);
    expect(opened.relay.metrics()).not.toContain('_sum -');
  });

  it('is not changed by a 500, which a page can cause with an event', async () => {
    const opened = open();
    opened.answerWith(async () => new Response(null, { status: 500 }));
    for (let n = 0; n < 10; n++) await opened.post(event('a'));
    expect(await check(opened)).toMatchObject([200, {}]);
  });

  it('is 503 while the relay closes', async () => {
    const opened = open();
    await opened.relay.close();
    expect((await opened.get('/clew/health')).status).toBe(503);
    expect(await opened.relay.health()).toMatchObject({ ready: false });
  });

  it('and its neighbours are answered while the limits are used up, and during `close()`', async () => {
    const rate = { rate: 0.001, burst: 1 };
    const opened = open({ limits: { total: rate, address: rate }, metricsPath: '/metrics' });
    const probe = async () => {
      const paths = ['/clew/health', '/clew/health/live', '/clew/metrics'];
      return Promise.all(paths.map(async (path) => (await opened.get(path)).status));
    };
    expect([(await opened.post(event('a'))).status, (await opened.post(event('a'))).status]).toEqual([201, 429]);
    for (let n = 0; n < 3; n++) expect(await probe()).toEqual([200, 200, 200]);
    await opened.relay.close();
    expect(await probe()).toEqual([503, 200, 200]);
  });

  it('reserves no event', async () => {
    const seen = memorySeen();
    const asked: string[] = [];
    const opened = open({
      seen: {
        ...seen,
        reserve: (uuids, owner) => {
          asked.push(...uuids);
          return seen.reserve(uuids, owner);
        },
      },
    });
    await check(opened);
    expect(await seen.reserve(asked, 'another')).toEqual(['new']);
  });
});

describe('the metrics', () => {
  it('are OpenMetrics text at `metricsPath`, and nowhere without that option', async () => {
    const { get, relay } = open({ metricsPath: '/metrics' });
    const { status, type, text } = await get('/clew/metrics');
    expect([status, type]).toEqual([200, 'application/openmetrics-text; version=1.0.0; charset=utf-8']);
    expect(text).toMatch(/^# TYPE clew_relay_requests counter\n[\s\S]*\n# EOF\n$/);
    expect(relay.metrics()).not.toContain('clew_relay_requests_total{');
    expect(relay.metrics()).toContain('clew_relay_request_duration_seconds_count 0\n');
    expect((await open().get('/clew/metrics')).status).toBe(405);
  });

  it('count requests, events, rejections by field, answers and failures', async () => {
    const seen = memorySeen();
    const opened = open({
      seen,
      allowedEvents: ['a'],
      limits: { visitor: false, address: false, total: { rate: 1, burst: 2 } },
    });
    const known = event('a');
    await opened.post(known);
    await opened.post(known, event('a', { source: 'x' }), event('a', { timestamp: 'x' }), event('b'), {});
    opened.answerWith(async () => new Response(null, { status: 503 }));
    await vi.advanceTimersByTimeAsync(10_000);
    await opened.post(event('a'));
    opened.answerWith(() => Promise.reject(new Error('away')));
    await opened.post(event('a'), event('a'), event('a'), event('a'), event('a'), event('a'));
    await opened.post(event('a'));
    // The first time, the relay reads the totals of the books.
    opened.relay.metrics();
    await vi.advanceTimersByTimeAsync(0);
    const lines = opened.relay.metrics().split('\n');
    for (const line of [
      'clew_relay_requests_total{status="201"} 1',
      'clew_relay_requests_total{status="200"} 1',
      'clew_relay_requests_total{status="503"} 1',
      'clew_relay_requests_total{status="502"} 1',
      'clew_relay_requests_total{status="429"} 1',
      'clew_relay_limited_requests_total 1',
      'clew_relay_events_total{what="received"} 13',
      'clew_relay_events_total{what="forwarded"} 1',
      'clew_relay_events_total{what="duplicate"} 1',
      'clew_relay_rejected_events_total{field="source"} 1',
      'clew_relay_rejected_events_total{field="timestamp"} 1',
      'clew_relay_rejected_events_total{field="event"} 2',
      'clew_relay_forward_answers_total{status="201"} 1',
      'clew_relay_forward_answers_total{status="503"} 1',
      'clew_relay_forward_answers_total{status="none"} 1',
      'clew_relay_forwards_in_flight 0',
      'clew_relay_missing_events 0',
      'clew_relay_handovers_total{state="taken"} 0',
      'clew_relay_store_errors_total{store="seen"} 0',
      'clew_relay_request_duration_seconds_count 5',
      'clew_relay_forward_duration_seconds_count 3',
    ])
      expect(lines).toContain(line);
  });

  it('have durations in cumulative buckets of seconds', async () => {
    const opened = open({ timeout: 70_000 });
    for (const ms of [3, 60, 60_000]) {
      opened.answerWith(async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        return new Response(null, { status: 201 });
      });
      const reply = opened.post(event('a'));
      await vi.advanceTimersByTimeAsync(ms);
      await reply;
    }
    const durations = opened.relay
      .metrics()
      .split('\n')
      .filter((line) => line.startsWith('clew_relay_forward_duration_seconds_'));
    expect(durations).toEqual([
      ...['0.005', '0.010', '0.025', '0.050'].map((le) => `clew_relay_forward_duration_seconds_bucket{le="${le}"} 1`),
      ...['0.100', '0.250', '0.500', '1.000', '2.500', '5.000', '10.000'].map(
        (le) => `clew_relay_forward_duration_seconds_bucket{le="${le}"} 2`,
      ),
      'clew_relay_forward_duration_seconds_bucket{le="+Inf"} 3',
      'clew_relay_forward_duration_seconds_count 3',
      'clew_relay_forward_duration_seconds_sum 60.063',
    ]);
  });

  it('have no label that a page can choose', async () => {
    const opened = open();
    const bad = ['x"} 1\nevil 1', 'source: y'].flatMap((text) => [
      event('a', { source: text }),
      event('a', { payload: { [text]: Number.POSITIVE_INFINITY } }),
    ]);
    await opened.relay(
      requestOf(JSON.stringify({ batch: bad }).replaceAll('null', '1e999'), { path: '/clew/api/events/batch/' }),
    );
    expect(opened.relay.metrics()).not.toContain('evil');
    expect(opened.relay.metrics()).toContain('clew_relay_rejected_events_total{field="payload"} 2');
  });
});

it('a foreign origin takes a token of its address', async () => {
  const { relay } = openInMemory({ allowedOrigins: [], limits: { address: { rate: 0.001, burst: 2 } } });
  const statuses = [];
  for (let n = 0; n < 3; n++) {
    const request = requestOf({}, { headers: { Origin: 'https://evil.example' } });
    statuses.push((await relay(request, { address: '10.0.0.1' })).status);
  }
  expect(statuses).toEqual([403, 403, 429]);
});

describe('the log', () => {
  it('has at most ten refusals as warnings in a second', async () => {
    const lines: LogLine[] = [];
    const opened = open({ allowedOrigins: [], logger: (line) => void lines.push(line) });
    const flood = async () => {
      for (let n = 0; n < 15; n++)
        await opened.relay(requestOf({}, { path: '/clew/events/', headers: { Origin: 'https://evil.example' } }));
      return lines.splice(0).map(({ level, status, path }) => `${level} ${status} ${path}`);
    };
    const expected = [...Array(10).fill('warn 403 /clew/events/'), ...Array(5).fill('info 403 /clew/events/')];
    expect(await flood()).toEqual(expected);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await flood()).toEqual(expected);
  });

  it('has at most ten failures as errors in a second: a page may cause them', async () => {
    const lines: LogLine[] = [];
    const forward = async () => new Response('no', { status: 400 });
    const opened = open({ forward, logger: (line) => void lines.push(line) });
    for (let n = 0; n < 15; n++) await opened.relay(requestOf({ batch: [event('a')] }));
    const failures = lines.filter(({ message }) => message !== 'request').map(({ level }) => level);
    expect(failures).toEqual([...Array(10).fill('error'), ...Array(5).fill('info')]);
  });

  it('has another failure as an error, whatever pages have caused in that second', async () => {
    const lines: LogLine[] = [];
    const seen = memorySeen();
    const reserve: Seen['reserve'] = (uuids, owner) =>
      uuids[1] ? Promise.reject(new Error('Redis is away')) : seen.reserve(uuids, owner);
    let n = 0;
    const forward = async () => {
      throw new Error(`no. ${n++}`);
    };
    const opened = open({ forward, seen: { ...seen, reserve }, logger: (line) => void lines.push(line) });
    for (let time = 0; time < 15; time++) await opened.relay(requestOf({ batch: [event('a')] }));
    await opened.relay(requestOf({ batch: [event('a'), event('b')] }));
    expect(lines.filter(({ message }) => message === 'Redis is away')).toMatchObject([{ level: 'error' }]);
  });

  it('has a bounded number of errors in a second, also if each has a text of its own', async () => {
    const lines: LogLine[] = [];
    let n = 0;
    const forward = async () => {
      throw new Error(`no. ${n++}`);
    };
    const opened = open({ forward, logger: (line) => void lines.push(line) });
    for (let time = 0; time < 60; time++) await opened.relay(requestOf({ batch: [event('a')] }));
    expect(lines.filter(({ level }) => level === 'error').length).toBeLessThan(45);
  });

  it('has a line for each request and each failure, without key, payload, id or address', async () => {
    const lines: LogLine[] = [];
    const opened = open({ logger: (line) => lines.push(line), limits: { total: { rate: 1, burst: 4 } } });
    const secret = event('secret_event', { payload: { email: 'ann@example.com' } });
    await opened.post(secret);
    opened.answerWith(async () => new Response(`no key ${KEY}: ann@example.com`, { status: 401 }));
    await opened.post(event('a'));
    opened.answerWith(() => Promise.reject(new Error(`redis at 10.0.0.7, key ${KEY}`)));
    await opened.post(event('a'));
    await opened.relay(requestOf('', { path: `/clew/${'x'.repeat(300)}?ann@example.com`, method: 'DELETE' }));
    await opened.post(event('a'));
    const time = '2026-01-31T12:00:00.000Z';
    const path = '/clew/api/events/batch/';
    expect(lines).toEqual([
      { time, level: 'info', message: 'request', status: 201, path, ms: 0 },
      { time, level: 'error', message: 'the service answered 401', status: 401 },
      { time, level: 'warn', message: 'request', status: 401, path, ms: 0 },
      { time, level: 'error', message: 'redis at 10.0.0.7, key …' },
      { time, level: 'error', message: 'request', status: 502, path, ms: 0 },
      { time, level: 'warn', message: 'request', status: 405, path: `/clew/${'x'.repeat(194)}`, ms: 0 },
      { time, level: 'info', message: 'request', status: 429, path, ms: 0 },
    ]);
  });

  it('may throw without an effect on answers', async () => {
    const opened = open({
      logger: () => {
        throw new Error('the disk is full');
      },
    });
    expect((await opened.post(event('a'))).status).toBe(201);
  });
});

describe('a worker ends what no answer waits for, so', () => {
  const LOAD = 2 ** 40;
  /** A relay whose store states the totals when the test wants it. */
  const openSlow = () => {
    const store = memoryBooks();
    const asked: (() => void)[] = [];
    const totals: typeof store.totals = async (days) => {
      await new Promise<void>((resolve) => asked.push(resolve));
      return store.totals(days);
    };
    const reports: RelayReport[] = [];
    const { relay, get } = open({
      seen: { ...memorySeen(), books: { ...store, totals } },
      metricsPath: '/metrics',
      onReport: (report) => void reports.push(report),
    });
    let settled = 0;
    const track = (n: number) =>
      relay(requestOf({ batch: [event('a', { seq: [LOAD, n] })], books: [[LOAD, n, 0, 'v1', []]] })).finally(() => {
        settled++;
      });
    return { track, get, reports, asked, settled: () => settled };
  };
  const soon = () => vi.advanceTimersByTimeAsync(0);

  it('the answer waits for the report that it is the occasion of', async () => {
    const { track, reports, asked, settled } = openSlow();
    await vi.advanceTimersByTimeAsync(60_000);
    const answer = track(1);
    await soon();
    expect([asked.length, settled()]).toEqual([1, 0]);
    asked[0]?.();
    expect((await answer).status).toBe(201);
    expect(reports).toMatchObject([{ taken: 1, books: [{ tracked: 1, delivered: 1 }] }]);
  });

  it('the answer waits for at most a second, and no later answer waits for that report', async () => {
    const { track, asked, settled } = openSlow();
    await vi.advanceTimersByTimeAsync(60_000);
    const answer = track(1);
    await vi.advanceTimersByTimeAsync(999);
    expect([asked.length, settled()]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect((await answer).status).toBe(201);
    const later = track(2);
    await soon();
    expect(settled()).toBe(2);
    expect((await later).status).toBe(201);
  });

  it('metrics have the totals of the moment, or after a second those before', async () => {
    const { track, get, asked } = openSlow();
    await track(1);
    const tracked = 'state="tracked"} 1\n';
    const fresh = get('/clew/metrics');
    await soon();
    asked[0]?.();
    expect((await fresh).text).toContain(tracked);
    const late = get('/clew/metrics');
    await vi.advanceTimersByTimeAsync(1000);
    expect((await late).text).toContain(tracked);
  });
});
