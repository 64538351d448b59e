// @module-tag promise
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../src/courier/transport.ts';
import { fetchTransport } from '../../src/courier/transport.ts';
import { RELAY_HEADER } from '../../src/wire.ts';
import { eventText, idOf, times } from '../recorder/items.ts';
import { useUpstream } from '../upstream.ts';
import { createTab, type Respond, type Tab } from './tab.ts';

const upstream = useUpstream({ [RELAY_HEADER]: '1' });
const overHttp: Respond = ({ path, body }, leaving) =>
  fetchTransport({ url: upstream.url + path, body, leaving, headers: { 'Content-Type': 'application/json' } });

const deliver = async (tab: Tab, count = 3) => {
  const ids = tab.track(...times(count, () => eventText()));
  await tab.courier.flush(true);
  return ids;
};

afterEach(() => void vi.useRealTimers());

describe('delivery over HTTP', () => {
  it('delivers', async () => {
    const tab = createTab({ respond: overHttp });
    const ids = await deliver(tab);
    expect(tab.delivered).toEqual(ids);
    expect(upstream.bodies()).toMatchObject([{ batch: ids.map((uuid) => ({ uuid })) }]);
  });

  it.each<[string, unknown]>([
    ['a count', 0],
    ['null', null],
    ['text', 'none'],
    ['an object', {}],
    ['a list of something else', [null]],
  ])('continues after a 201 whose `rejected` is %s: the contract does not define that body', async (_what, value) => {
    upstream.answer(201, { 'Content-Type': 'application/json' }, JSON.stringify({ accepted: 3, rejected: value }));
    const tab = createTab({ respond: overHttp });
    const ids = tab.track(...times(3, () => eventText()));
    const outcome = await tab.courier.flush().then(
      () => 'done',
      (error) => String(error),
    );
    expect(outcome).toBe('done');
    expect(tab.delivered).toEqual(ids);
  });

  it.each(['error', 400, 200])('reads the status of a service from HTTP, not from its body: %j', async (status) => {
    upstream.answer(500, { 'Content-Type': 'application/json', [RELAY_HEADER]: '' }, JSON.stringify({ status }));
    const answer = await overHttp({ path: '/api/events/batch/', body: '{}' } as never, false);
    expect(answer).toMatchObject({ outcome: 'failed', status: 500 });
  });

  it('keeps its events after a 200 of another server, reports it, and delivers them later', async () => {
    upstream.react((response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Offline</title>'),
    );
    const tab = createTab({ respond: overHttp });
    const ids = await deliver(tab);
    expect(tab.delivered).toEqual([]);
    expect(tab.store.rows().flatMap(([, items]) => items?.map(idOf))).toEqual(ids);
    expect(tab.errors).toEqual([expect.stringMatching(/^200 of another server: no clew-relay, or HTML$/)]);
    upstream.answer(201);
    await tab.courier.flush(true);
    expect(tab.delivered).toEqual(ids);
  });
});

describe('a transport option', () => {
  const broken: [string, () => unknown, message: RegExp][] = [
    [
      'throws',
      () => {
        throw new Error('not a function');
      },
      /got not a function/,
    ],
    ['returns false although the page does not leave', () => false, /got boolean/],
    ['returns nothing', () => undefined, /got undefined/],
    ['resolves to nothing', async () => undefined, /got undefined/],
    ['resolves to null', async () => null, /got object/],
    ['resolves to a response', async () => new Response('ok'), /got object/],
    ['resolves to text', async () => 'delivered', /got string/],
    ['resolves to an unknown outcome', async () => ({ outcome: 'ok' }), /got object/],
  ];

  it.each(broken)('that %s has failed: clew reports it and sends the batch again', async (_what, break_, message) => {
    let isBroken = true;
    const tab = createTab({ respond: (...request) => (isBroken ? (break_() as Answer) : overHttp(...request)) });
    const ids = await deliver(tab);
    isBroken = false;
    expect(tab.delivered).toEqual([]);
    expect(tab.errors).toEqual([expect.stringMatching(/^transport: expected an answer/)]);
    expect(tab.errors).toEqual([expect.stringMatching(message)]);
    await tab.courier.flush(true);
    expect(tab.delivered).toEqual(ids);
  });

  it('that never settles has failed after 21 s: clew reports it and sends the batch again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let isBroken = true;
    const tab = createTab({ respond: () => (isBroken ? new Promise(() => {}) : { outcome: 'delivered' }) });
    const done = deliver(tab);
    await vi.advanceTimersByTimeAsync(20_999);
    expect(tab.errors).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    isBroken = false;
    const ids = await done;
    expect(tab.errors).toEqual([expect.stringMatching(/got undefined/)]);
    await tab.courier.flush(true);
    expect(tab.delivered).toEqual(ids);
  });
});
