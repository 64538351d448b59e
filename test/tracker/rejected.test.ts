// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import type { Transport } from '../../src/index.ts';
import { createMemoryStore, start } from './page.ts';

describe('an event that the service rejects', () => {
  it('is counted as dropped, and all others as delivered, if a relay names it', async () => {
    const transport: Transport = async ({ body }) => {
      const { batch } = JSON.parse(body as string) as { batch: { uuid: string; event: string }[] };
      const rejected = batch.filter(({ event }) => event === 'bad').map(({ uuid }) => ({ uuid, reason: 'bad' }));
      return { outcome: 'delivered', rejected, message: 'one is bad' };
    };
    const { tracker, dropped, delivered, errors } = start({ transport });
    for (const name of ['a', 'bad', 'b']) tracker.track(name);
    await tracker.flush();
    expect(tracker.stats()).toEqual({ tracked: 3, delivered: 2, queued: 0, dropped: { rejected: 1 } });
    expect(dropped).toEqual([['bad', 'rejected']]);
    expect(delivered).toEqual(['a', 'b']);
    expect(errors).toEqual(['clew: one is bad']);
  });

  it('is bisected, dropped and counted if a service answers 400 to its batch', async () => {
    const transport: Transport = async ({ body }) =>
      String(body).includes('"bad"')
        ? { outcome: 'rejected', status: 400, message: '400' }
        : { outcome: 'delivered', status: 200 };
    const { tracker, dropped, delivered } = start({ transport });
    for (const name of ['a', 'bad', 'b']) tracker.track(name);
    await tracker.flush();
    expect(tracker.stats()).toEqual({ tracked: 3, delivered: 2, queued: 0, dropped: { rejected: 1 } });
    expect(dropped).toEqual([['bad', 'rejected']]);
    expect(delivered).toEqual(['a', 'b']);
  });

  it.each([
    ['no name', ''],
    ['a name that is no string', 7],
    ['the reserved name', '$identify'],
  ])('is dropped in the call if it has %s', async (_what, name) => {
    const { tracker, dropped, errors, requests } = start();
    tracker.track(name as string);
    expect(dropped).toEqual([['', 'rejected']]);
    expect(errors).toHaveLength(1);
    expect(tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { rejected: 1 } });
    await tracker.flush();
    expect(requests).toEqual([]);
  });
});

describe('properties while the service fails', () => {
  /** A page whose customer has set two properties, and the plans that the service has taken. */
  const open = async (answer: (plan: string) => number, isFollowed: boolean) => {
    const taken: string[] = [];
    const transport: Transport = async ({ body }) => {
      const { properties } = JSON.parse(body as string) as { properties?: { plan: string } };
      const status = properties ? answer(properties.plan) : 200;
      if (status !== 200) return { outcome: status === 500 ? 'failed' : 'rejected', status, message: `${status}` };
      if (properties) taken.push(properties.plan);
      return { outcome: 'delivered', status };
    };
    const { tracker } = start({ transport });
    tracker.identify('ann');
    await tracker.flush();
    tracker.setProperties({ plan: 'old' });
    tracker.setProperties({ plan: 'new' });
    if (isFollowed) tracker.track('seen');
    for (let n = 0; n < 4; n++) await tracker.flush();
    return { taken, stats: tracker.stats() };
  };

  it.each([true, false])(
    'stay in order if the first ones get 500 twice, also with an event behind: %s',
    async (isFollowed) => {
      const answers = [500, 500];
      const { taken, stats } = await open(() => answers.shift() ?? 200, isFollowed);
      expect(taken).toEqual(['old', 'new']);
      expect(stats.queued).toBe(0);
    },
  );

  it.each([true, false])('arrive if the first ones are rejected, also with an event behind: %s', async (isFollowed) => {
    const { taken, stats } = await open((plan) => (plan === 'old' ? 422 : 200), isFollowed);
    expect(taken).toEqual(['new']);
    expect(stats.queued).toBe(0);
  });
});

/** A relay that answers once `answer` is called, and rejects each event with the signature `wrong`. `taken` has the signatures of the others. */
const signing = () => {
  const taken: string[] = [];
  let answer = () => {};
  const answering = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const transport: Transport = async ({ body }) => {
    await answering;
    const { batch } = JSON.parse(body as string) as { batch: { uuid: string; signature: string }[] };
    const rejected = batch.filter(({ signature }) => signature === 'wrong');
    taken.push(...batch.filter((event) => !rejected.includes(event)).map(({ signature }) => signature));
    return { outcome: 'delivered', status: 200, rejected: rejected.map(({ uuid }) => ({ uuid, reason: 'signature' })) };
  };
  return { taken, transport, answer: () => answer() };
};

describe('a $identify whose signature is rejected', () => {
  it('is sent again with the signature that the app has given meanwhile', async () => {
    const { taken, transport, answer } = signing();
    const { tracker } = start({ baseUrl: '/clew', transport });
    tracker.identify('ann', undefined, { signature: 'wrong' });
    const first = tracker.flush();
    tracker.identify('ann', undefined, { signature: 'right' });
    answer();
    await first;
    await tracker.flush();
    expect(taken).toEqual(['right']);
  });

  it('is not sent again with the signature of the next customer', async () => {
    const { taken, transport, answer } = signing();
    const { tracker } = start({ baseUrl: '/clew', transport });
    tracker.identify('ann', undefined, { signature: 'wrong' });
    const first = tracker.flush();
    tracker.identify('bob', undefined, { signature: 'right' });
    answer();
    await first;
    await tracker.flush();
    expect(taken).toEqual(['right']);
    expect(tracker.stats()).toMatchObject({ tracked: 2, delivered: 1, dropped: { rejected: 1 } });
  });

  it('is not sent again without another signature', async () => {
    const { taken, transport, answer } = signing();
    answer();
    const { tracker } = start({ baseUrl: '/clew', transport });
    tracker.identify('ann', undefined, { signature: 'wrong' });
    await tracker.flush();
    await tracker.flush();
    expect(taken).toEqual([]);
    expect(tracker.stats()).toEqual({ tracked: 1, delivered: 0, queued: 0, dropped: { rejected: 1 } });
  });
});

it('a dropped $identify is sent again by another tab, also without BroadcastChannel', async () => {
  vi.stubGlobal('localStorage', {});
  const store = createMemoryStore();
  const { taken, transport, answer } = signing();
  const tabs = [1, 2].map(() => start({ baseUrl: '/clew', store, transport }).tracker);
  for (const tab of tabs) await tab.correlationValue();
  tabs[0]?.identify('ann', undefined, { signature: 'wrong' });
  // The other tab learns who is identified before the answer.
  await tabs[1]?.correlationValue();
  answer();
  for (const tab of tabs) await tab.flush();
  expect(taken).toEqual([]);
  tabs[1]?.identify('ann', undefined, { signature: 'right' });
  await tabs[1]?.correlationValue();
  for (const tab of tabs) await tab.flush();
  expect(taken).toEqual(['right']);
});
