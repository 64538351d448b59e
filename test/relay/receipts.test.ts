// @module-tag promise
import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memorySeen, type RelayRequest, redisSeen, type Seen } from '../../src/relay.ts';
import { describeWithRedis, useRedis } from '../redis.ts';
import { useUpstream } from '../upstream.ts';
import { openInMemory, requestOf, uuids } from './requests.ts';
import { BATCH, event, holdAnswers, UPSERT, useRelays, watchSeen } from './stage.ts';

const redis = useRedis();
const upstream = useUpstream();
const openRelay = useRelays(() => ({ baseUrl: upstream.url }));

const handedOver = (id: string, batch: readonly object[]): RelayRequest =>
  requestOf({ batch }, { path: `${BATCH}?handover=${id}`, headers: { 'Content-Type': 'text/plain' } });
const upsertOf = (id: string, plan: string): RelayRequest =>
  requestOf(
    { primary_key: 'ann', properties: { plan } },
    { path: `${UPSERT}?handover=${id}`, headers: { 'Content-Type': 'text/plain' } },
  );
const asking = (ids: readonly string[], age = 0, batch: readonly object[] = []): RelayRequest =>
  requestOf({ handovers: ids.map((id) => [id, age]), batch });
const statesOf = (response: Response) => response.headers.get('clew-handovers');

const receiptsSuite = (create: () => Seen) => {
  it('calls a handover taken once it has forwarded it, and another one unknown', async () => {
    const [id, other] = uuids(2) as [string, string];
    const { relay } = openInMemory({ seen: create() });
    await relay(handedOver(id, [event('a')]));
    expect(statesOf(await relay(asking([other, id])))).toBe('unknown,taken');
    expect(statesOf(await relay(asking([id, other])))).toBe('taken,unknown');
  });

  it('waits for a handover of the last second, which the question has overtaken', async () => {
    const [id] = uuids(1) as [string];
    const { relay } = openInMemory({ seen: create() });
    const asked = relay(asking([id], 500));
    await relay(handedOver(id, [event('a')]));
    expect(statesOf(await asked)).toBe('taken');
  });

  it('forwards no properties of a handover that it has called unknown, and calls it unknown again', async () => {
    const [id, other] = uuids(2) as [string, string];
    const options = { seen: create(), allowUnsignedUpsert: true };
    const [{ relay }, { relay: second, received }] = [openInMemory(options), openInMemory(options)];
    expect(statesOf(await relay(asking([id], 5000)))).toMatch(/unknown|forgotten/);
    expect((await second(upsertOf(other, 'new'))).status).toBe(201);
    expect((await second(upsertOf(id, 'old'))).status).toBe(503);
    expect((await second(requestOf({ primary_key: 'ann', handover: id }, { path: UPSERT }))).status).toBe(503);
    expect(received.map(({ body }) => JSON.parse(body).properties.plan)).toEqual(['new']);
    expect(statesOf(await relay(asking([id, other], 1000)))).toMatch(/^(unknown|forgotten),taken$/);
  });

  it('remembers a request by the id in its body', async () => {
    const [id] = uuids(1) as [string];
    const { relay, received } = openInMemory({ seen: create() });
    await relay(requestOf({ handover: id, batch: [event('a')] }));
    expect(JSON.parse(received[0]?.body ?? '')).not.toHaveProperty('handover');
    expect(statesOf(await relay(asking([id])))).toBe('taken');
  });

  it('calls a handover taken whose events it had forwarded before', async () => {
    const [id] = uuids(1) as [string];
    const { relay, received } = openInMemory({ seen: create() });
    const batch = [event('a')];
    await relay(requestOf({ batch }));
    await relay(handedOver(id, batch));
    expect(received).toHaveLength(1);
    expect(statesOf(await relay(asking([id])))).toBe('taken');
  });

  it('calls a handover forgotten that is older than its memory, and no younger one', async () => {
    const [id, other] = uuids(2) as [string, string];
    const seen = create();
    const { relay } = openInMemory({ seen });
    await relay(handedOver(id, [event('a')]));
    const answer = await relay(
      requestOf({
        handovers: [
          [other, 60_000],
          [id, 60_000],
          [other, 0],
        ],
        batch: [],
      }),
    );
    expect(statesOf(answer)).toBe('forgotten,taken,unknown');
  });
};

it('counts the handovers that pages ask about, by state', async () => {
  const [id, other, old] = uuids(3) as [string, string, string];
  let isDown = false;
  const memory = memorySeen();
  const seen: Seen = {
    ...memory,
    // Like `redisSeen`, this asks nothing for an empty list.
    reserve: (...asked) => (isDown && asked[0][0] ? Promise.reject(new Error('down')) : memory.reserve(...asked)),
  };
  const { relay } = openInMemory({ seen });
  const counts = () => relay.metrics().match(/(?<=clew_relay_handovers_total\{state=")\w+"} \d+/g);
  expect(counts()).toEqual(['forgotten"} 0', 'taken"} 0', 'unanswered"} 0', 'unknown"} 0']);
  await relay(handedOver(id, [event('a')]));
  const handovers = [
    [id, 0],
    [id, 60_000],
    [old, 60_000],
    [other, 1],
  ];
  await relay(requestOf({ handovers, batch: [] }));
  isDown = true;
  await relay(asking([id, other]));
  expect(counts()).toEqual(['forgotten"} 1', 'taken"} 2', 'unanswered"} 2', 'unknown"} 1']);
});

describe('a relay with memorySeen', () => receiptsSuite(() => memorySeen()));
describeWithRedis('a relay with redisSeen', () => {
  receiptsSuite(() => redisSeen(redis().command, { prefix: `${randomUUID()}:` }));

  it('after a restart knows the handovers of before, and since when it would know', async () => {
    const [id, other] = uuids(2) as [string, string];
    const create = () => redisSeen(redis().command, { prefix });
    const prefix = `${randomUUID()}:`;
    const { relay } = openInMemory({ seen: create() });
    await relay(handedOver(id, [event('a')]));
    const begun = await create().memory?.();
    await vi.waitUntil(async () => (await create().memory?.()) !== begun);
    const { relay: restarted } = openInMemory({ seen: create() });
    expect(statesOf(await restarted(asking([id, other], 1)))).toBe('taken,unknown');
  });

  it('forgets since when it remembers with all other keys', async () => {
    const prefix = `${randomUUID()}:`;
    const seen = redisSeen(redis().command, { prefix });
    await redis().command(['SET', `${prefix}since`, `${Date.now() - 60_000}`]);
    expect(await seen.memory?.()).toBeGreaterThanOrEqual(60_000);
    await redis().command(['DEL', `${prefix}since`]);
    expect(await seen.memory?.()).toBeLessThan(60_000);
  });
});

describe('a relay', () => {
  it('refuses a handover whose id one of its events has: each would wait for the other', async () => {
    const [id] = uuids(1) as [string];
    const { relay, received } = openInMemory();
    const batch = [event('a'), event('b', { uuid: id })];
    for (const request of [handedOver(id, batch), requestOf({ handover: id, batch })]) {
      const answer = await relay(request);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain('handover');
    }
    expect(received).toEqual([]);
    expect((await relay(requestOf({ batch }))).status).toBe(201);
  });

  it('forwards the events of the request that asks, and answers for both', async () => {
    const [id] = uuids(1) as [string];
    const { relay, received } = openInMemory();
    const answer = await relay(asking([id], 0, [event('a')]));
    expect(answer.status).toBe(201);
    expect(statesOf(answer)).toBe('unknown');
    expect(received).toHaveLength(1);
  });

  it('answers a request without a question as before', async () => {
    const { relay } = openInMemory();
    expect((await relay(requestOf({ batch: [event('a')] }))).headers.has('clew-handovers')).toBe(false);
  });

  it('refuses the properties of a handover that it has called unknown, also after its reservation has expired', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const [id] = uuids(1) as [string];
    const { relay, received } = openInMemory({ seen: memorySeen({ maxPending: 60_000 }), allowUnsignedUpsert: true });
    expect(statesOf(await relay(asking([id], 5000)))).toMatch(/unknown|forgotten/);
    vi.advanceTimersByTime(60_001);
    expect((await relay(upsertOf(id, 'old'))).status).toBe(503);
    expect(received).toEqual([]);
  });

  it('remembers the handover of an upsert', async () => {
    const [id] = uuids(1) as [string];
    const { relay } = openInMemory({ allowUnsignedUpsert: true });
    await relay(requestOf({ primary_key: 'ann', handover: id }, { path: UPSERT }));
    expect(statesOf(await relay(asking([id])))).toBe('taken');
  });

  it('forwards the events of a handover that it has called unknown, because they cannot change newer ones', async () => {
    const [id] = uuids(1) as [string];
    const { relay, received } = openInMemory();
    await relay(asking([id], 5000));
    expect((await relay(handedOver(id, [event('a')]))).status).toBe(201);
    expect(received).toHaveLength(1);
    expect(statesOf(await relay(asking([id])))).toBe('taken');
  });

  it('forwards the properties of a handover that the service has refused before', async () => {
    const [id] = uuids(1) as [string];
    const answers = [503, 201];
    const forward = async () => new Response(null, { status: answers.shift() ?? 201, headers: { 'Retry-After': '9' } });
    const { relay } = openInMemory({ forward, allowUnsignedUpsert: true });
    expect((await relay(upsertOf(id, 'pro'))).status).toBe(503);
    expect((await relay(upsertOf(id, 'pro'))).status).toBe(201);
    expect(statesOf(await relay(asking([id])))).toBe('taken');
  });

  it('does not forward properties of a handover again, which may be older than those of the next page', async () => {
    const [id, next] = uuids(2) as [string, string];
    const { relay, received } = openInMemory({ allowUnsignedUpsert: true });
    expect((await relay(upsertOf(id, 'old'))).status).toBe(201);
    expect(statesOf(await relay(asking([id])))).toBe('taken');
    expect((await relay(upsertOf(next, 'new'))).status).toBe(201);
    expect((await relay(upsertOf(id, 'old'))).status).toBe(503);
    expect(received.map(({ body }) => JSON.parse(body).properties.plan)).toEqual(['old', 'new']);
    expect(statesOf(await relay(asking([id])))).toBe('taken');
  });

  it('waits for properties that arrive between its look and its answer', async () => {
    const [id] = uuids(1) as [string];
    const seen = memorySeen();
    let resolve = (_response: Response) => {};
    const answer = new Promise<Response>((settle) => {
      resolve = settle;
    });
    let arriving: Promise<Response> | undefined;
    const reserve: Seen['reserve'] = async (ids, owner) => {
      const states = await seen.reserve(ids, owner);
      // The request finds its id reserved, by the look.
      if (ids[0] === id && !arriving) {
        arriving = relay(upsertOf(id, 'pro'));
        await vi.waitUntil(() => relay.metrics().includes('clew_relay_forwards_in_flight 1'));
      }
      return states;
    };
    const { relay } = openInMemory({ seen: { ...seen, reserve }, forward: () => answer, allowUnsignedUpsert: true });
    const asked = relay(asking([id], 5000));
    await vi.waitUntil(() => relay.metrics().includes('clew_relay_forwards_in_flight 1'));
    setTimeout(() => resolve(new Response(null, { status: 201 })), 50);
    expect(statesOf(await asked)).toBe('taken');
    expect((await arriving)?.status).toBe(201);
  });

  it('waits for a handover that arrives while a look has its id', async () => {
    const [id] = uuids(1) as [string];
    const seen = memorySeen();
    let arriving: Promise<Response> | undefined;
    let answer = (_response: Response) => {};
    const answered = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const reserve: Seen['reserve'] = async (ids, owner) => {
      const states = await seen.reserve(ids, owner);
      if (ids[0] !== id) return states;
      if (!arriving) {
        arriving = relay(handedOver(id, [event('a')]));
        await vi.waitUntil(() => relay.metrics().includes('clew_relay_forwards_in_flight 1'));
      }
      return states;
    };
    const { relay } = openInMemory({ seen: { ...seen, reserve }, forward: () => answered });
    // The handover may arrive for another 400 ms, and the service takes longer.
    const asked = relay(asking([id], 600));
    setTimeout(() => answer(new Response(null, { status: 201 })), 700);
    expect(statesOf(await asked)).toBe('taken');
    expect((await arriving)?.status).toBe(201);
  });

  it('does not retry the properties of a handover that it has called unknown meanwhile', async () => {
    const [id] = uuids(1) as [string];
    let forwards = 0;
    const forward = () => {
      forwards++;
      return new Promise<Response>(() => {});
    };
    const { relay } = openInMemory({ forward, timeout: 300, allowUnsignedUpsert: true, onError() {} });
    const handed = relay(upsertOf(id, 'old'));
    expect(statesOf(await relay(asking([id], 5000)))).toBe('unknown');
    expect((await handed).status).toBe(504);
    expect(forwards).toBeLessThan(3);
  });

  it('does not retry properties that it has called unknown while the retry was waiting', async () => {
    const [id] = uuids(1) as [string];
    // The longest waits: 200 and 1,000 ms.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let asked: Promise<string | null> | undefined;
    let isUnknown = false;
    const late: string[] = [];
    const { relay } = openInMemory({
      allowUnsignedUpsert: true,
      // The answer to the question comes during one of the waits.
      timeout: 50,
      async forward({ body }) {
        if (isUnknown) late.push(body);
        asked ??= relay(asking([id], 5000)).then((response) => {
          isUnknown = true;
          return statesOf(response);
        });
        return new Response(null, { status: 502 });
      },
    });
    await relay(upsertOf(id, 'old'));
    vi.restoreAllMocks();
    expect([await asked, late]).toEqual(['unknown', []]);
  });

  it('forwards properties although seen fails', async () => {
    const [id] = uuids(1) as [string];
    // Like `redisSeen`, this asks nothing for an empty list.
    const reserve: Seen['reserve'] = async (ids) => {
      if (ids[0]) throw new Error('broken');
      return [];
    };
    const { relay } = openInMemory({ seen: { ...memorySeen(), reserve }, allowUnsignedUpsert: true });
    expect((await relay(upsertOf(id, 'pro'))).status).toBe(201);
  });

  it('remembers no handover that the service refuses, or of which it refuses an event itself', async () => {
    const [refused, partly, unread] = uuids(3) as [string, string, string];
    const answers = [400, 201];
    const forward = async () => new Response(null, { status: answers.shift() ?? 201 });
    const { relay } = openInMemory({ forward });
    await relay(handedOver(refused, [event('a')]));
    await relay(handedOver(partly, [event('a'), event('b', { source: 'other' })]));
    await relay(requestOf('no JSON', { path: `${BATCH}?handover=${unread}` }));
    expect(statesOf(await relay(asking([refused, partly, unread])))).toBe('unknown,unknown,unknown');
  });

  it('answers about a handover in flight once the service has answered', async () => {
    const { seen, isWaitedFor } = watchSeen();
    const relay = await openRelay({ seen });
    const held = holdAnswers(upstream);
    const [id] = uuids(1) as [string];
    const first = relay.post(`${BATCH}?handover=${id}`, { batch: [event('a')] });
    const service = await held.next();
    const asked = relay.post(BATCH, { handovers: [[id, 0]], batch: [event('b')] });
    await held.answer(201);
    await isWaitedFor();
    service.writeHead(201).end();
    expect((await first).status).toBe(201);
    expect((await asked).headers.get('clew-handovers')).toBe('taken');
  });

  it('knows of a handover whose body has not arrived', async () => {
    const { seen, isWaitedFor } = watchSeen();
    const { relay } = openInMemory({ seen });
    const [id] = uuids(1) as [string];
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const whole = handedOver(id, [event('a')]);
    const body = (async function* () {
      await arrived;
      yield* whole.body as AsyncIterable<Uint8Array>;
    })();
    const first = relay({ ...whole, body });
    const asked = relay(asking([id]));
    await isWaitedFor();
    arrive();
    expect((await first).status).toBe(201);
    expect(statesOf(await asked)).toBe('taken');
  });

  it('does not wait for a handover that waits for the request that asks', async () => {
    const { seen, isWaitedFor } = watchSeen();
    const relay = await openRelay({ seen });
    const held = holdAnswers(upstream);
    const [id] = uuids(1) as [string];
    const batch = [event('a')];
    const asked = relay.post(BATCH, { handovers: [[id, 0]], batch });
    const service = await held.next();
    const first = relay.post(`${BATCH}?handover=${id}`, { batch });
    await isWaitedFor();
    service.writeHead(201).end();
    expect((await asked).headers.get('clew-handovers')).toBe('taken');
    expect((await first).status).toBe(200);
  });

  it.each(['reserve', 'confirm'] as const)(
    'takes the events once although a look for handovers fails (%s), and asks the page to come again',
    async (method) => {
      const [id, other] = uuids(2) as [string, string];
      const seen = memorySeen();
      let isDown = true;
      // Not the ids of the events.
      const isAsked = (ids: readonly string[]) =>
        ids.some((one) => [id, other].some((mine) => one.endsWith(mine.slice(1))));
      const failing = async (ids: readonly string[], owner: string) => {
        if (isDown && isAsked(ids)) throw new Error('broken');
        return seen[method](ids, owner);
      };
      const errors: unknown[] = [];
      const { relay, received } = openInMemory({
        seen: { ...seen, [method]: failing },
        onError: (error) => errors.push(error),
        allowUnsignedUpsert: true,
        timeout: 300,
      });
      expect((await relay(handedOver(id, [event('a')]))).status).toBe(201);
      const [b] = [event('b')];
      const answer = await relay(asking([id, other], 60_000, [b]));
      expect([answer.status, statesOf(answer)]).toEqual([503, null]);
      expect(errors.length).toBeGreaterThan(1);
      isDown = false;
      const again = await relay(asking([id, other], 60_000, [b]));
      expect([again.status, statesOf(again)]).toEqual([200, expect.stringMatching(/^\w+,(unknown|forgotten)$/)]);
      expect(received).toHaveLength(2);
      expect((await relay(upsertOf(other, 'late'))).status).toBe(503);
    },
  );

  it('answers about the others when a relay has died that was forwarding one', async () => {
    const [id, pending, other] = uuids(3) as [string, string, string];
    const seen = memorySeen();
    const { relay } = openInMemory({ seen, timeout: 300 });
    await relay(handedOver(id, [event('a')]));
    await seen.reserve([pending], 'a relay that has died');
    const begin = performance.now();
    expect(statesOf(await relay(asking([id, pending, other], 60_000)))).toBe('taken,unknown,forgotten');
    expect(performance.now() - begin).toBeGreaterThanOrEqual(300);
  });

  it('calls no handover forgotten if its store has no method memory', async () => {
    const [id] = uuids(1) as [string];
    const { memory, ...seen } = memorySeen();
    const { relay } = openInMemory({ seen });
    expect(memory).toBeTypeOf('function');
    expect(statesOf(await relay(asking([id], 1e12)))).toBe('unknown');
  });

  it('does not take a browser’s duplicate of a handover for a failure', async () => {
    const { relay } = openInMemory();
    const [id] = uuids(1) as [string];
    const batch = [event('a')];
    await Promise.all([relay(handedOver(id, batch)), relay(handedOver(id, batch))]);
    expect(statesOf(await relay(asking([id])))).toBe('taken');
  });

  it.each([
    [
      'a handover in the address that is no UUID',
      requestOf({ batch: [] }, { path: `${BATCH}?handover=1` }),
      'handover:',
    ],
    ['a handover in the body that is no UUID', requestOf({ handover: 1, batch: [] }), 'handover:'],
    ['handovers that are no list', requestOf({ handovers: {}, batch: [] }), 'handovers:'],
    ['an age that is no number', requestOf({ handovers: [[randomUUID(), '1']], batch: [] }), 'handovers:'],
    ['an age below 0', asking(uuids(1), -1), 'handovers:'],
    ['an id that is no UUID', requestOf({ handovers: [['1', 1]], batch: [] }), 'handovers:'],
    ['101 handovers', asking(uuids(101)), 'handovers: expected at most 100'],
  ])('refuses %s', async (_what, request, reason) => {
    const { relay } = openInMemory();
    const answer = await relay(request);
    expect(answer.status).toBe(400);
    expect((await answer.json()).error).toContain(reason);
  });
});

it('memorySeen remembers from its start, or from its oldest ids, and no longer than maxAge', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const seen = memorySeen({ maxEvents: 2, maxAge: 10_000 });
  vi.advanceTimersByTime(1000);
  expect(seen.memory?.()).toBe(1000);
  await seen.confirm(uuids(2));
  vi.advanceTimersByTime(500);
  expect(seen.memory?.()).toBe(1500);
  await seen.confirm(uuids(2));
  expect(seen.memory?.()).toBe(500);
  vi.advanceTimersByTime(20_000);
  expect(seen.memory?.()).toBe(10_000);
  vi.useRealTimers();
});
