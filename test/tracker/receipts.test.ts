// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Answer, Transport } from '../../src/index.ts';
import { createTestTransport } from '../../src/testing.ts';
import { createMemoryStore, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

/** Names of the events in each request, and how many handovers it asks about. */
const shapeOf = ({ body }: { body: string | Uint8Array }): [names: string[], asked: number] => {
  const { batch = [], handovers = [] } = JSON.parse(`${body}`);
  return [batch.map(({ event }: { event: string }) => event), handovers.length];
};
const HANDED = /^clew\.handed /;
const marks = () => Object.keys(localStorage).filter((key) => HANDED.test(key));

/** Far more requests than the pages of any test make. */
const MOST_REQUESTS = 100;

/** Pages of one visitor, and one relay. `alter` may wrap the transport. */
const visit = (alter: (transport: Transport) => Transport = (transport) => transport) => {
  const service = createTestTransport();
  const store = createMemoryStore();
  const requests: Parameters<Transport>[0][] = [];
  const transport = alter(service.transport);
  const open = () => {
    const page = openPage();
    const opened = start({
      baseUrl: '/clew',
      store,
      compress: false,
      transport: (request) => {
        // A tracker that asks without end, while no time passes, would keep the test from ending.
        if (requests.length >= MOST_REQUESTS) throw new Error(`expected at most ${MOST_REQUESTS} requests`);
        requests.push(request);
        return transport(request);
      },
    });
    return { ...opened, page };
  };
  return { service, requests, open };
};

/** A page that hands over an event after it has had an answer. */
const leaveAfterAnswer = async ({ open }: ReturnType<typeof visit>) => {
  const { tracker, page } = open();
  tracker.track('proof');
  await tracker.flush();
  tracker.track('left');
  page.leave();
  await settle();
};

/** A page without an answer hands over an event, and the next page has none of its own. The requests are those of the next page. */
const askAlone = async ({ open, requests }: ReturnType<typeof visit>) => {
  const { tracker, page } = open();
  await tracker.flush();
  tracker.track('left');
  page.leave();
  await settle();
  const next = open();
  requests.length = 0;
  await next.tracker.flush();
  return next;
};

const withStates =
  (state: string | undefined, outcome: 'delivered' | 'failed' = 'delivered'): ((transport: Transport) => Transport) =>
  (transport) =>
  async (request) => {
    const { handovers, ...answer } = (await transport(request)) || { outcome };
    return { ...answer, ...(handovers && state && { handovers: handovers.map(() => state as 'taken') }) };
  };

describe('a page that leaves', () => {
  it('puts an id into the address of a handover, and keeps its events under this id', async () => {
    const visited = visit();
    await leaveAfterAnswer(visited);
    const [, id] = visited.requests.at(-1)?.url.split('?handover=') ?? [];
    expect(marks()).toEqual([`clew.handed /clew ${id}`]);
    const { at, ids } = JSON.parse(localStorage[`clew.handed /clew ${id}`] ?? '');
    expect(at).toBe(Date.now());
    expect(ids).toEqual(visited.service.events('left').map(({ uuid }) => uuid));
  });

  /** A page whose request fails and that then ends. Returns the requests of each page, in order. */
  const failAndEnd = async (fail: () => Promise<never> | Promise<Answer>, wait: number, isStopped = false) => {
    let isFailing = false;
    const visited = visit((transport) => (request) => (isFailing && !request.leaving ? fail() : transport(request)));
    const { tracker, page } = visited.open();
    tracker.track('proof');
    await tracker.flush();
    visited.requests.length = 0;
    isFailing = true;
    tracker.track('left');
    await tracker.flush();
    isFailing = false;
    vi.setSystemTime(Date.now() + wait);
    if (isStopped) tracker.stop();
    else page.leave();
    await settle();
    return visited.requests.map((request) => [...shapeOf(request)[0], request.leaving]);
  };
  const reject = () => Promise.reject(new TypeError('Failed to fetch'));

  it('does not hand over what a request has that the browser rejects as it unloads the page', async () => {
    expect(await failAndEnd(reject, 10)).toEqual([['left', false]]);
    expect(marks()).toHaveLength(1);
  });

  it.each<[string, () => Promise<never> | Promise<Answer>, number, boolean]>([
    ['long before', reject, 200, false],
    ['with an answer', async () => ({ outcome: 'failed', status: 503 }), 10, false],
    ['before `stop()`', reject, 10, true],
  ])('hands over what a request has that failed %s', async (_when, fail, wait, isStopped) => {
    expect(await failAndEnd(fail, wait, isStopped)).toEqual([
      ['left', false],
      ['left', true],
    ]);
  });

  it('keeps nothing that the browser did not take', async () => {
    const visited = visit((transport) => (request) => !request.leaving && transport(request));
    await leaveAfterAnswer(visited);
    expect(marks()).toEqual([]);
  });

  it('without a relay has no id, and asks nothing', async () => {
    const page = openPage();
    const { tracker, requests } = start({ baseUrl: 'https://service.example', apiKey: 'key' });
    tracker.track('proof');
    await tracker.flush();
    tracker.track('left');
    page.leave();
    await settle();
    expect(requests.map(({ url }) => url.includes('handover'))).toEqual([false, false]);
    expect(requests.some(({ body }) => `${body}`.includes('handover'))).toBe(false);
    expect(marks()).toEqual([]);
  });
});

describe('the next page', () => {
  it('asks before it sends its own events, and does not send what the relay has taken', async () => {
    const visited = visit();
    await leaveAfterAnswer(visited);
    const { tracker, delivered } = visited.open();
    visited.requests.length = 0;
    tracker.track('next');
    await tracker.flush();
    expect(visited.requests.map(shapeOf)).toEqual([
      [[], 1],
      [['next'], 0],
    ]);
    expect(delivered).toEqual(['next']);
    expect(tracker.stats()).toMatchObject({ queued: 0 });
    tracker.track('later');
    await tracker.flush();
    expect(visited.requests.map(shapeOf).slice(2)).toEqual([[['later'], 0]]);
    expect(marks()).toEqual([]);
  });

  it('asks alone if it has no events, and reports its own as delivered when it is back', async () => {
    const visited = visit();
    const { tracker, page, delivered } = visited.open();
    await tracker.flush();
    tracker.track('left');
    page.leave();
    await settle();
    visited.requests.length = 0;
    page.restore();
    await tracker.flush();
    await settle();
    expect(visited.requests.map(shapeOf)).toEqual([[[], 1]]);
    expect(delivered).toEqual(['left']);
    expect(tracker.stats()).toEqual({ tracked: 1, delivered: 1, queued: 0, dropped: {} });
  });

  it.each([
    ['unknown', ['left', 'next']],
    [undefined, ['left', 'next']],
    ['forgotten', ['left', 'next']],
    ['taken', ['next']],
  ])('of a proven handover that the relay calls %s then sends %j', async (state, names) => {
    const visited = visit(withStates(state));
    await leaveAfterAnswer(visited);
    const { tracker } = visited.open();
    visited.requests.length = 0;
    tracker.track('next');
    await tracker.flush();
    expect(visited.requests.map(shapeOf)).toEqual([
      [[], 1],
      [names, 0],
    ]);
    expect(visited.service.events('left')).toHaveLength(1);
    expect(marks()).toEqual([]);
  });

  it('sends again a forgotten handover of a page that had no answer', async () => {
    const visited = visit(withStates('forgotten'));
    await askAlone(visited);
    expect(visited.requests.map(shapeOf)).toEqual([
      [[], 1],
      [['left'], 0],
    ]);
  });

  it('asks again after a failure, and sends nothing of the handover before it has an answer', async () => {
    const visited = visit();
    await leaveAfterAnswer(visited);
    const { tracker } = visited.open();
    visited.service.fail(503);
    visited.requests.length = 0;
    tracker.track('next');
    await tracker.flush();
    visited.service.recover();
    await tracker.flush();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(visited.requests.map(shapeOf)).toEqual([
      [[], 1],
      [[], 1],
      [['next'], 0],
    ]);
  });

  it('does not hand over again what a page before has handed over', async () => {
    const visited = visit();
    const first = visited.open();
    first.tracker.track('left');
    first.page.leave();
    await settle();
    const second = visited.open();
    second.page.leave();
    await settle();
    const names = visited.requests.flatMap((request) => shapeOf(request)[0]);
    expect(names).toEqual(['left']);
  });

  it('lets nothing pass a change of the customer, and asks first', async () => {
    const visited = visit(withStates('unknown'));
    const { tracker, page } = visited.open();
    await tracker.flush();
    tracker.identify('ann');
    tracker.track('left');
    page.leave();
    await settle();
    const next = visited.open();
    visited.requests.length = 0;
    next.tracker.track('next');
    await next.tracker.flush();
    expect(visited.requests.map(shapeOf)).toEqual([
      [[], 1],
      [['$identify', 'left', 'next'], 0],
    ]);
  });

  it('of an older relay, which refuses a request without events, sends again', async () => {
    const visited = visit((transport) => (request) => {
      const isEmpty = shapeOf(request)[0].length === 0;
      return isEmpty ? Promise.resolve({ outcome: 'rejected', status: 400 }) : transport(request);
    });
    const next = await askAlone(visited);
    expect(visited.requests.map(shapeOf)).toEqual([
      [[], 1],
      [['left'], 0],
    ]);
    expect(next.errors).toEqual([]);
  });

  it('asks about a request that was in flight when its page left', async () => {
    let give = () => {};
    const arrived = new Promise<void>((resolve) => {
      give = resolve;
    });
    let isHeld = true;
    const visited = visit((transport) => async (request) => {
      const answer = await transport(request);
      if (isHeld) await arrived;
      return answer || { outcome: 'failed' };
    });
    const { tracker, page } = visited.open();
    tracker.track('in flight');
    const flushed = tracker.flush();
    await vi.advanceTimersByTimeAsync(10);
    page.leave();
    isHeld = false;
    const next = visited.open();
    visited.requests.length = 0;
    await next.tracker.flush();
    await settle();
    expect(visited.requests.map(shapeOf)).toEqual([[[], 1]]);
    give();
    await flushed;
  });

  it('ignores what other code has written in place of handovers', async () => {
    const visited = visit();
    const { tracker, names } = visited.open();
    const id = crypto.randomUUID();
    localStorage['clew.handed /clew x'] = '{"at":1,"ids":[]}';
    localStorage[`clew.handed /clew ${id}`] = '{"at":"1","ids":{}}';
    localStorage[`clew.handed /clew ${id.replace(/^./, 'a')}`] = 'null';
    tracker.track('next');
    await tracker.flush();
    expect(visited.requests.map(shapeOf)).toEqual([[['next'], 0]]);
    expect(names()).toEqual([]);
    for (const key of marks()) delete localStorage[key];
  });
});

it('a refusal deletes what pages have handed over', async () => {
  const visited = visit();
  await leaveAfterAnswer(visited);
  const { tracker } = visited.open();
  // Before this page has asked about them.
  expect(marks()).not.toEqual([]);
  tracker.consent(false);
  expect(marks()).toEqual([]);
  await settle();
  expect(marks()).toEqual([]);
});
