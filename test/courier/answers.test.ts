// @module-tag promise
import { describe, expect, it } from 'vitest';
import { fetchTransport } from '../../src/courier/transport.ts';
import { eventText, times } from '../recorder/items.ts';
import { useUpstream } from '../upstream.ts';
import { createTab, type Respond, type Tab } from './tab.ts';

const upstream = useUpstream();
const overHttp: Respond = ({ path, body }, leaving) =>
  fetchTransport({ url: upstream.url + path, body, leaving, headers: { 'Content-Type': 'application/json' } });

const deliver = async (tab: Tab, count = 3) => {
  const ids = tab.track(...times(count, () => eventText()));
  await tab.delivery.flush(true);
  return ids;
};

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
    const outcome = await tab.delivery.flush().then(
      () => 'done',
      (error) => String(error),
    );
    expect(outcome).toBe('done');
    expect(tab.delivered).toEqual(ids);
  });

  it.each<[string, Respond]>([
    [
      'throws',
      () => {
        throw new Error('not a function');
      },
    ],
  ])('continues after a transport option that %s', async (_what, broken) => {
    let isBroken = true;
    const tab = createTab({ respond: (...request) => (isBroken ? broken : overHttp)(...request) });
    const ids = tab.track(eventText());
    const outcome = await tab.delivery.flush().then(
      () => 'done',
      (error) => String(error),
    );
    isBroken = false;
    expect(outcome).toBe('done');
    await tab.delivery.flush(true);
    expect(tab.delivered).toEqual(ids);
  });
});
