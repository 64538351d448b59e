import { expect, fault } from './support/fault.ts';
import { answer, poison } from './support/faults.ts';
import { deliveredTo, stir, told } from './support/witness.ts';

const STATUSES = [400, 500] as const;
const EVENTS = 50;

const playPoison = (number: number, title: string, bad: readonly number[], status: 400 | 500, isLong: boolean) =>
  fault(
    number,
    `${title}, answered ${status}: the others arrive, and it is reported`,
    async (stage) => {
      const isBad = (n: number | undefined) => n !== undefined && bad.includes(n);
      stage.site.fault = poison<{ payload?: { n?: number } }>(({ payload }) => isBad(payload?.n), status);
      const tab = await stage.visit();
      await stage.track(tab, EVENTS);
      await expect.poll(() => stage.site.requests.length).toBeGreaterThan(0);
      expect(stage.site.requests[0]?.uuids.length).toBe(EVENTS);
      // A 500 may also be the service's failure. A later event that is confirmed shows that it is not.
      await stage.track(tab);
      const time = { timeout: 45_000 };
      await expect.poll(async () => (await told(tab)).dropped.length, time).toBe(bad.length);
      await expect.poll(() => deliveredTo(tab), time).toBe(EVENTS + 1 - bad.length);
      const { dropped } = await told(tab);
      expect(dropped).toHaveLength(bad.length);
      expect(dropped).toEqual(expect.arrayContaining(bad.map((n) => [n, 'rejected'])));
      stage.drop([...bad], 'rejected');
      // Bisecting takes some requests for each rejected event, and not one request for each event.
      expect(stage.site.requests.length).toBeLessThan(25 * bad.length + 10);
    },
    { isLong },
  );

for (const status of STATUSES) {
  playPoison(28, 'one poison event among 50, first', [0], status, true);
  playPoison(28, 'one poison event among 50, in the middle', [24], status, status === 500);
  playPoison(28, 'one poison event among 50, last', [49], status, true);
  playPoison(29, 'three poison events in one batch', [5, 24, 25], status, true);
}

fault(
  28,
  'one poison event, then a service that refuses everything: the other events stay queued',
  async (stage) => {
    let isBroken = false;
    const refuse = answer(400);
    const bad = poison<{ payload?: { n?: number } }>(({ payload }) => payload?.n === 0, 400);
    stage.site.fault = async (exchange) => {
      if (isBroken) return refuse(exchange);
      // The service breaks after the first success, which proves that the poison event is the cause.
      isBroken = exchange.uuids.length > 0 && !exchange.body.includes('"n":0');
      await bad(exchange);
    };
    const tab = await stage.visit();
    await stage.track(tab, 30);
    await expect.poll(async () => (await told(tab)).errors.length).toBeGreaterThan(0);
    await stir(tab);
    const { dropped } = await told(tab);
    expect(dropped).toEqual([[0, 'rejected']]);
    stage.drop([0], 'rejected');
  },
  { isLong: true },
);

fault(
  28,
  'a service that refuses everything: after five refusals in a row all events stay queued',
  async (stage) => {
    stage.site.fault = answer(400);
    const tab = await stage.visit();
    for (let n = 0; n < 20; n++) {
      await stage.track(tab);
      await stir(tab);
    }
    const { dropped } = await told(tab);
    stage.drop(
      dropped.map(([n]) => n ?? -1),
      'rejected',
    );
    expect(dropped.length).toBeLessThan(5);
  },
  { isLong: true },
);
