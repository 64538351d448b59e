import type { Handler } from './support/exchange.ts';
import { expect, fault } from './support/fault.ts';
import { answer } from './support/faults.ts';
import { deliveredTo, stir, told } from './support/witness.ts';

for (const times of [1, 3]) {
  fault(
    24,
    `500 × ${times}, then 201`,
    async (stage) => {
      stage.site.fault = answer(500, { times });
      const tab = await stage.visit();
      await stage.track(tab, 10);
      // Settling ends the fault, so all answers of the fault have to come before.
      await expect.poll(() => deliveredTo(tab)).toBe(10);
      const statuses = stage.site.requests.map(({ status }) => status);
      expect(statuses.slice(0, times + 1)).toEqual([...Array(times).fill(500), 201]);
      const arrived = (await stage.arrived()).map(({ payload }) => (payload as { n: number }).n);
      expect(arrived, 'in the order of the calls').toEqual(Array.from({ length: 10 }, (_, n) => n));
    },
    { isLong: times === 1 },
  );
}

fault(
  24,
  '500 × 50, then 201, over several pages: no event is rejected',
  async (stage) => {
    stage.site.fault = answer(500, { times: 50 });
    const failures = () => stage.site.requests.filter(({ status }) => status === 500).length;
    const tab = await stage.visit();
    for (let page = 1; failures() < 50; page++) {
      if (page > 1) await stage.visit({ tab, path: `/page/${page}` });
      await stage.track(tab, 10);
      // Back-offs grow to minutes by now. A new page ends them, and so does a network that is back.
      for (const end = failures() + 10; failures() < Math.min(end, 50); ) await stir(tab);
      expect((await told(tab)).dropped).toEqual([]);
    }
    await stir(tab);
    const count = stage.next(0).from;
    await expect.poll(async () => (await stage.arrived()).length).toBe(count);
    expect((await told(tab)).dropped).toEqual([]);
  },
  { isLong: true },
);

/** Each request gets the next of these statuses. A 201, and every answer after the last one, comes from the demo. */
const inTurn = (...statuses: number[]): Handler => {
  const next = statuses.values();
  return (exchange) => {
    const { value = 201 } = next.next();
    return value === 201 ? exchange.forward() : answer(value)(exchange);
  };
};

// The 201 shows that the service works. After it, four answers of 500 in a row would reject the remaining event.
for (const again of [1, 3]) {
  fault(
    24,
    `500 × 3, 201 once, 500 × ${again}, then 201: no event is rejected`,
    async (stage) => {
      stage.site.fault = inTurn(500, 500, 500, 201, ...Array(again).fill(500));
      const tab = await stage.visit();
      await stage.track(tab, 2);
      while (stage.site.requests.length < 5 + again) {
        await stir(tab);
        expect((await told(tab)).dropped).toEqual([]);
      }
      await stir(tab);
      await expect.poll(async () => (await stage.arrived()).length).toBe(2);
      expect((await told(tab)).dropped).toEqual([]);
    },
    { isLong: true },
  );
}

fault(
  24,
  '502, 503 and 504, then 201',
  async (stage) => {
    stage.site.fault = inTurn(502, 503, 504);
    const tab = await stage.visit();
    await stage.track(tab, 10);
    await expect.poll(() => deliveredTo(tab)).toBe(10);
    expect(stage.site.requests.map(({ status }) => status)).toEqual([502, 503, 504, 201]);
  },
  { isLong: true },
);

const retryAfter: [string, () => string][] = [
  ['in seconds', () => '2'],
  // An HTTP date has whole seconds, so this one is two to three seconds ahead.
  ['as a date', () => new Date(Date.now() + 3000).toUTCString()],
];
for (const [how, value] of retryAfter) {
  fault(
    25,
    `429 with Retry-After ${how}`,
    async (stage) => {
      let until = 0;
      stage.site.fault = (exchange) => {
        if (until) return exchange.forward();
        const header = value();
        until = Number.isNaN(Number(header)) ? Date.parse(header) : Date.now() + Number(header) * 1000;
        return answer(429, { headers: { 'Retry-After': header } })(exchange);
      };
      const tab = await stage.visit();
      await stage.track(tab, 5);
      await expect.poll(() => stage.site.requests.length).toBe(1);
      // Events that are tracked meanwhile wait, too.
      await stage.track(tab, 5);
      await expect.poll(() => deliveredTo(tab)).toBe(10);
      const [first, second] = stage.site.requests;
      expect(first?.status).toBe(429);
      expect(second?.at).toBeGreaterThanOrEqual(until);
    },
    { isLong: how === 'as a date' },
  );
}

const RELAY = { 'clew-relay': '1' };
const successes: [string, Handler][] = [
  ['an empty body', answer(200, { headers: RELAY })],
  [
    'HTML',
    answer(200, { headers: { ...RELAY, 'Content-Type': 'text/html' }, body: '<!doctype html><title>OK</title>' }),
  ],
  ['invalid JSON', answer(201, { headers: { ...RELAY, 'Content-Type': 'application/json' }, body: '{"accepted":' })],
  ['204', answer(204, { headers: RELAY })],
];
fault(
  31,
  'empty body, HTML, invalid JSON, 204: all of a relay count as success',
  async (stage) => {
    const tab = await stage.visit();
    for (const [index, [what, handler]] of successes.entries()) {
      stage.site.fault = async (exchange) => {
        await exchange.store();
        await handler(exchange);
      };
      await stage.track(tab, 5);
      await expect.poll(() => deliveredTo(tab), what).toBe((index + 1) * 5);
    }
    // Nothing was sent a second time.
    expect(stage.site.requests.map(({ status }) => status)).toEqual([200, 200, 201, 204]);
    expect([...stage.site.stored.values()]).toEqual(Array(20).fill(1));
  },
  { isLong: true },
);
