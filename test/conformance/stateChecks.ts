import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { BATCH, type Bench, type Check, event, SINGLE, sign, UPSERT } from './check.ts';

const isSuccess = (status: number) => ok(status >= 200 && status < 300, `expected 2xx, got ${status}`);

const SECOND = 1000;

const duplicates: Check[] = [
  {
    name: 'forwards an event once, and answers a duplicate as a success',
    async run({ post, events }) {
      const batch = [event()];
      isSuccess((await post(BATCH, { batch })).status);
      isSuccess((await post(BATCH, { batch })).status);
      equal(events().length, 1);
    },
  },
  {
    name: 'forwards an event once that is twice in a batch',
    async run({ post, events }) {
      const sent = event();
      await post(BATCH, { batch: [sent, sent] });
      equal(events().length, 1);
    },
  },
  {
    name: 'forwards an event once that comes in a batch and alone',
    async run({ post, events }) {
      const sent = event();
      await post(BATCH, { batch: [sent] });
      isSuccess((await post(SINGLE, sent)).status);
      equal(events().length, 1);
    },
  },
  {
    name: 'forwards an event once that comes again meanwhile, and answers that request after the service',
    async run(bench) {
      const { post, service, events } = bench;
      const sent = event();
      const release = service.hold();
      const first = post(BATCH, { batch: [sent] });
      await Promise.race([service.arrived(sent.uuid), first]);
      let isEarly = true;
      const second = post(BATCH, { batch: [sent] }).then(({ status }) => ({ status, isEarly }));
      await passTime(bench);
      isEarly = false;
      release();
      isSuccess((await first).status);
      const answer = await second;
      ok(!answer.isEarly, `it is answered ${answer.status} before the service has the event`);
      // A relay may also refuse the second request, so that the page sends the event again.
      equal(events().filter(({ uuid }) => uuid === sent.uuid).length, 1);
    },
  },
  {
    name: 'forwards an event again that the service has not taken',
    async run({ post, service, events }) {
      const batch = [event()];
      service.answer(503);
      await post(BATCH, { batch });
      service.clear();
      isSuccess((await post(BATCH, { batch })).status);
      deepEqual(events(), batch);
    },
  },
  {
    name: 'forwards an event once whose 2xx of the service has a body that breaks off',
    async run({ post, service, events }) {
      const batch = [event()];
      service.breakBodies();
      isSuccess((await post(BATCH, { batch })).status);
      isSuccess((await post(BATCH, { batch })).status);
      equal(events().length, 1);
    },
  },
];

const failures: Check[] = [
  {
    name: 'answers 502 with the status 500 of the service in the body',
    async run({ post, service }) {
      service.answer(500);
      const { status, json, headers } = await post(BATCH, { batch: [event()] });
      deepEqual([status, json.status], [502, 500]);
      ok(headers.get('clew-relay'), 'expected the header clew-relay');
    },
  },
  {
    name: 'answers 503 with Retry-After if the service does not take requests',
    async run({ post, service }) {
      service.answer(503);
      const { status, headers } = await post(BATCH, { batch: [event()] });
      equal(status, 503);
      ok(headers.get('retry-after'), 'expected the header Retry-After');
    },
  },
  {
    name: 'answers 5xx if the service breaks the connection',
    async run({ post, service }) {
      service.answer(0);
      const { status } = await post(BATCH, { batch: [event()] });
      ok(status >= 500, `expected 5xx, got ${status}`);
    },
  },
  {
    name: 'answers 5xx if another server answers in place of the service: 200 with HTML',
    async run({ post, service }) {
      service.answer(200, { 'Content-Type': 'text/html; charset=utf-8' }, '<!doctype html><title>Log in</title>');
      const { status } = await post(BATCH, { batch: [event()] });
      ok(status >= 500, `expected 5xx, got ${status}`);
    },
  },
  {
    name: 'passes on Retry-After of the service',
    async run({ post, service }) {
      service.answer(429, { 'Retry-After': '7' });
      equal((await post(BATCH, { batch: [event()] })).headers.get('retry-after'), '7');
    },
  },
  ...[400, 401, 429].map(
    (status): Check => ({
      name: `passes on a ${status} of the service`,
      async run({ post, service }) {
        service.answer(status);
        equal((await post(BATCH, { batch: [event()] })).status, status);
      },
    }),
  ),
];

const ask = async ({ post }: Bench, ids: readonly string[], age = 5000, batch: readonly object[] = []) =>
  (await post(BATCH, { batch, handovers: ids.map((id) => [id, age]) })).headers.get('clew-handovers');

/** Has the relay serve requests one after the other. A request from before is served, too, unless it has to wait. */
const passTime = async ({ post }: Bench) => {
  for (let sent = 0; sent < 5; sent++) await post(BATCH, { batch: [event()] });
};

/**
 * Asks about a handover before `complete` completes it. The request that asks has an event.
 *
 * @param age how old the handover is by that question, in ms
 * @returns the state, and how long (ms) the answer took
 */
const askBefore = async (bench: Bench, id: string, age: number, complete: () => unknown) => {
  const sent = event();
  const begin = performance.now();
  const asked = ask(bench, [id], age, [sent]).then((state) => ({ state, ms: performance.now() - begin }));
  try {
    // The events of the request that asks do not wait.
    await Promise.race([bench.service.arrived(sent.uuid), asked]);
    await passTime(bench);
  } finally {
    await complete();
  }
  return asked;
};

/** The type of a beacon. */
const BEACON = { 'Content-Type': 'text/plain' };

const handovers: Check[] = [
  {
    name: 'calls a handover taken whose events the service has, by the id in its address',
    async run(bench) {
      const [id, other] = [randomUUID(), randomUUID()];
      await bench.post(`${BATCH}?handover=${id}`, { batch: [event()] }, BEACON);
      const states = ((await ask(bench, [other, id])) ?? 'no header').split(/, */);
      equal(states[1], 'taken');
      ok(states[0] === 'unknown' || states[0] === 'forgotten', `another id is ${states[0]}`);
    },
  },
  {
    name: 'knows a request by the id in its body, and does not forward it',
    async run(bench) {
      const id = randomUUID();
      await bench.post(BATCH, { handover: id, batch: [event()] });
      ok(!JSON.stringify(bench.service.forwarded).includes(id), 'the id was forwarded');
      equal(await ask(bench, [id]), 'taken');
    },
  },
  {
    name: 'knows a single event and an upsert by the id in the body',
    async run(bench) {
      const [one, other] = [randomUUID(), randomUUID()];
      await bench.post(SINGLE, { ...event(), handover: one });
      await bench.post(UPSERT, {
        primary_key: 'ann',
        properties: { plan: 'pro' },
        signature: sign('ann'),
        handover: other,
      });
      deepEqual((await ask(bench, [one, other]))?.split(/, */), ['taken', 'taken']);
    },
  },
  {
    name: 'forwards the properties of a handover once',
    async run(bench) {
      const id = randomUUID();
      const upsert = { primary_key: id, properties: { plan: 'old' }, signature: sign(id) };
      for (let n = 0; n < 2; n++) await bench.post(`${UPSERT}?handover=${id}`, upsert, BEACON);
      equal(bench.service.forwarded.length, 1);
    },
  },
  {
    name: 'calls a handover unknown that the service has refused',
    async run(bench) {
      const id = randomUUID();
      bench.service.answer(400);
      await bench.post(`${BATCH}?handover=${id}`, { batch: [event()] });
      bench.service.clear();
      ok((await ask(bench, [id])) !== 'taken', 'it is called taken');
    },
  },
  {
    name: 'calls a handover unknown that has a rejected event',
    async run(bench) {
      const id = randomUUID();
      await bench.post(`${BATCH}?handover=${id}`, { batch: [event(), event({ event: '' })] });
      ok((await ask(bench, [id])) !== 'taken', 'it is called taken');
    },
  },
  {
    name: 'forwards no properties of a handover after it has called it unknown',
    async run(bench) {
      const [id, other] = [randomUUID(), randomUUID()];
      await ask(bench, [id]);
      const upsert = { primary_key: id, properties: { plan: 'old' }, signature: sign(id) };
      await bench.post(`${UPSERT}?handover=${other}`, upsert, BEACON);
      equal(bench.service.forwarded.length, 1);
      const { status } = await bench.post(`${UPSERT}?handover=${id}`, upsert, BEACON);
      equal(bench.service.forwarded.length, 1);
      ok(status >= 500, `expected 5xx, so that the page keeps them, got ${status}`);
      ok((await ask(bench, [id])) !== 'taken', 'it is called taken');
    },
  },
  {
    name: 'lets a question about a handover wait while it forwards that handover',
    async run(bench) {
      const [id, sent] = [randomUUID(), event()];
      const release = bench.service.hold();
      const handedOver = bench.post(`${BATCH}?handover=${id}`, { batch: [sent] }, BEACON);
      await Promise.race([bench.service.arrived(sent.uuid), handedOver]);
      const { state } = await askBefore(bench, id, 5000, release);
      await handedOver;
      ok(state === 'taken', `it is called ${state}`);
    },
  },
  {
    name: 'lets a question wait until the handover is a second old, if that handover is not known',
    async run(bench) {
      const id = randomUUID();
      const handOver = () => bench.post(`${BATCH}?handover=${id}`, { batch: [event()] }, BEACON);
      const { state, ms } = await askBefore(bench, id, 0, handOver);
      // On a slow machine the handover may arrive later than that. Clocks of relays are not exact.
      ok(state === 'taken' || ms > 0.9 * SECOND, `it is called ${state} after ${Math.round(ms)} ms`);
    },
  },
  {
    name: 'notes the id of a handover in the address before the body has arrived',
    async run(bench) {
      const id = randomUUID();
      const finish = await bench.begin(`${BATCH}?handover=${id}`, { batch: [event()] });
      await passTime(bench);
      const { state } = await askBefore(bench, id, 5000, finish);
      ok(state === 'taken', `it is called ${state}`);
    },
  },
  {
    name: 'answers 100 questions about handovers, the most of a request',
    async run(bench) {
      const ids = Array.from({ length: 100 }, () => randomUUID());
      await bench.post(`${BATCH}?handover=${ids[99]}`, { batch: [event()] }, BEACON);
      const states = ((await ask(bench, ids)) ?? 'no header').split(/, */);
      deepEqual([states.length, states[99]], [100, 'taken']);
    },
  },
  {
    name: 'answers a question of another form 400',
    async run({ post }) {
      const ids = Array.from({ length: 101 }, () => [randomUUID(), 1000]);
      for (const handovers of ['x', ['x'], [[randomUUID()]], [[randomUUID(), -1]], [['x', 1]], ids])
        equal((await post(BATCH, { batch: [], handovers })).status, 400);
    },
  },
  {
    name: 'answers an id of another form 400, and one that an event of the request has',
    async run({ post }) {
      const sent = event();
      for (const id of ['x', randomUUID().toUpperCase(), sent.uuid]) {
        equal((await post(BATCH, { handover: id, batch: [sent] })).status, 400);
        equal((await post(`${BATCH}?handover=${id}`, { batch: [sent] }, BEACON)).status, 400);
      }
    },
  },
];

const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

/** An event of a page load, tracked now by a clock that is off by so many ms. */
const tracked = (visitor: string, page: number, off: number, ago = 0) =>
  event({ correlationValue: visitor, seq: [page, 1], timestamp: new Date(Date.now() + off - ago).toISOString() });
const clockOf = (off: number, age = 60_000) => [Date.now() + off, age];
/** How far (ms) the forwarded times are from now. */
const errors = ({ events }: Bench) => events().map(({ timestamp }) => Date.parse(`${timestamp}`) - Date.now());
const isClose = (error: number | undefined, to = 0) =>
  ok(error !== undefined && Math.abs(error - to) < 5000, `the time is ${error} ms from now, expected about ${to}`);

const clocks: Check[] = [
  ...(
    [
      ['ten years ahead', 3650 * DAY],
      ['ten years behind', -3650 * DAY],
      ['three hours ahead', 3 * HOUR],
    ] as const
  ).map(
    ([what, off]): Check => ({
      name: `corrects a clock that is ${what}`,
      async run(bench) {
        await bench.post(BATCH, { clock: clockOf(off), batch: [tracked(randomUUID(), 1, off)] });
        isClose(errors(bench)[0]);
      },
    }),
  ),
  {
    name: 'leaves a clock alone that is wrong by less than two minutes',
    async run(bench) {
      const sent = tracked(randomUUID(), 1, 60_000);
      await bench.post(BATCH, { clock: clockOf(60_000), batch: [sent] });
      equal(bench.events()[0]?.timestamp, sent.timestamp);
    },
  },
  {
    name: 'corrects an event of a known page load by its own offset, in a request with another clock',
    async run(bench) {
      const visitor = randomUUID();
      await bench.post(BATCH, { clock: clockOf(-HOUR), batch: [tracked(visitor, 1, -HOUR)] });
      const batch = [tracked(visitor, 1, -HOUR, 30_000), tracked(visitor, 2, 0)];
      await bench.post(BATCH, { clock: clockOf(0, 1000), batch });
      isClose(errors(bench)[1], -30_000);
      isClose(errors(bench)[2]);
    },
  },
  {
    name: 'corrects no event that was tracked before the page that states its clock',
    async run(bench) {
      await bench.post(BATCH, { clock: clockOf(HOUR, 1000), batch: [tracked(randomUUID(), 1, 0, 60_000)] });
      isClose(errors(bench)[0], -60_000);
    },
  },
  {
    name: 'corrects an event of a known page load in a request without a clock',
    async run(bench) {
      const visitor = randomUUID();
      await bench.post(BATCH, { clock: clockOf(-HOUR), batch: [tracked(visitor, 1, -HOUR)] });
      await bench.post(BATCH, { batch: [tracked(visitor, 1, -HOUR)] });
      isClose(errors(bench)[1]);
    },
  },
  {
    name: 'corrects by the offset of the request plus `back` if the other offsets give an impossible time',
    async run(bench) {
      // The visitor has set the clock back by ten years, and then opened the page of the event.
      const back = 3650 * DAY;
      await bench.post(BATCH, { clock: [...clockOf(0), back], batch: [tracked(randomUUID(), 1, -back)] });
      isClose(errors(bench)[0]);
    },
  },
  {
    name: 'keeps the order of the events of a page load, also if times are in the future',
    async run(bench) {
      const visitor = randomUUID();
      const batch = [60_000, 300_000].map((off) => tracked(visitor, 1, off));
      await bench.post(BATCH, { clock: clockOf(0, 1000), batch });
      const times = bench.events().map(({ timestamp }) => Date.parse(`${timestamp}`));
      deepEqual(
        times,
        times.toSorted((one, other) => one - other),
      );
      equal(times.length, 2);
    },
  },
  {
    name: 'takes the events of a request whose clock has another form',
    async run({ post, events }) {
      for (const clock of ['x', {}, [1], [1, 'x'], [1, 2, 3, 4]])
        isSuccess((await post(BATCH, { clock, batch: [event()] })).status);
      equal(events().length, 5);
    },
  },
  {
    name: 'corrects events of a page load alike, also for the visitor after a log-out',
    async run(bench) {
      const load = 2 ** 48 + randomInt(2 ** 40);
      await bench.post(BATCH, { clock: clockOf(-HOUR), batch: [tracked(randomUUID(), load, -HOUR)] });
      // The next page sends it, and was opened after that.
      await bench.post(BATCH, { clock: clockOf(-HOUR, 1000), batch: [tracked(randomUUID(), load, -HOUR, 30_000)] });
      isClose(errors(bench)[1], -30_000);
    },
  },
  {
    name: 'forwards no statement of a clock',
    async run(bench) {
      await bench.post(BATCH, { clock: clockOf(0), batch: [event()] });
      deepEqual(Object.keys(Object(bench.service.forwarded[0]?.body)), ['batch']);
    },
  },
  {
    name: 'takes an event of a month ago, and rejects events of ten years ago by their timestamp',
    async run(bench) {
      const [old, older] = [tracked(randomUUID(), 1, 0, 30 * DAY), tracked(randomUUID(), 1, 0, 3650 * DAY)];
      const { json } = await bench.post(BATCH, { clock: clockOf(0), batch: [old, older] });
      deepEqual(
        json.rejected?.map(({ uuid, reason }) => [uuid, reason.split(':')[0]]),
        [[older.uuid, 'timestamp']],
      );
      equal(bench.events()[0]?.uuid, old.uuid);
    },
  },
  {
    name: 'takes an event an hour after the arrival, and rejects one more than `maxFuture` after it',
    async run(bench) {
      const [soon, late] = [tracked(randomUUID(), 1, HOUR), tracked(randomUUID(), 1, 30 * DAY)];
      // Without a statement of the clock, these times are not corrected.
      const { json } = await bench.post(BATCH, { batch: [soon, late] });
      deepEqual(
        json.rejected?.map(({ uuid, reason }) => [uuid, reason.split(':')[0]]),
        [[late.uuid, 'timestamp']],
      );
      deepEqual(
        bench.events().map(({ uuid }) => uuid),
        [soon.uuid],
      );
    },
  },
];

export const stateChecks: readonly Check[] = [...duplicates, ...failures, ...handovers, ...clocks];
