// @module-tag promise
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { offsetsFor } from '../../src/relay/clocks.ts';
import { memorySeen, type RelayOptions, type RelayReport } from '../../src/relay.ts';
import { hold } from './arbitraries.ts';
import { openInMemory, requestOf } from './requests.ts';
import { event, SINGLE } from './stage.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TEN_YEARS = 3650 * DAY;
/** A page load as trackers number it. Earlier ones counted from 1. */
const LOAD = 2 ** 40 + 5;
/** When a test begins, by the relay's clock. */
const START = Date.parse('2026-01-31T12:00:00Z');

beforeEach(() => void vi.useFakeTimers({ now: START, toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

/** A browser whose clock is off by so many ms, and what its events' times are at the service. */
const open = (options: Partial<RelayOptions> = {}) => {
  const { relay, received } = openInMemory(options);
  const visitor = randomUUID();
  const pages = new Map<number, number>();
  const times = () =>
    received.flatMap(({ body }) =>
      (JSON.parse(body) as { batch: { timestamp: string }[] }).batch.map(
        ({ timestamp }) => (Date.parse(timestamp) - START) / SECOND,
      ),
    );
  return {
    relay,
    times,
    received,
    /** An event of this page load, tracked so many seconds after the start. */
    track(page: number, seconds: number, off = 0, correlationValue = visitor) {
      const n = (pages.get(page) ?? 0) + 1;
      pages.set(page, n);
      const timestamp = new Date(START + seconds * SECOND + off).toISOString();
      return event('a', { timestamp, correlationValue, seq: [page, n] });
    },
    /** A request so many seconds after the start, by a page that began at another one. */
    async send(seconds: number, batch: readonly object[], off?: number, began = 0) {
      vi.setSystemTime(START + seconds * SECOND);
      const clock = off === undefined ? undefined : [Date.now() + off, (seconds - began) * SECOND];
      const response = await relay(requestOf({ batch, clock }));
      return (await response.json().catch(() => undefined)) as { rejected?: { reason: string }[] } | undefined;
    },
  };
};

describe('a clock that is wrong', () => {
  it.each([TEN_YEARS, -TEN_YEARS, 3 * HOUR, -3 * HOUR, 130 * SECOND])('by %i ms is corrected', async (off) => {
    const { track, send, times } = open();
    await send(10, [track(1, 1, off), track(1, 9, off)], off);
    expect(times()).toEqual([1, 9]);
  });

  it('by less than two minutes is left alone', async () => {
    const { track, send, times } = open();
    await send(10, [track(1, 1, 119 * SECOND)], 119 * SECOND);
    expect(times()).toEqual([120]);
  });

  it('is corrected by one offset for a page load, however long requests take', async () => {
    const { track, send, times } = open();
    const off = -HOUR;
    await send(10, [track(1, 1, off)], off);
    // The second request took five seconds.
    await send(25, [track(1, 19, off)], off - 5 * SECOND);
    expect(times()).toEqual([1, 19]);
  });

  it('is corrected for a batch that is delayed by hours, and after a night asleep', async () => {
    const { track, send, times } = open();
    const off = TEN_YEARS;
    await send(36_000, [track(1, 1, off), track(1, 35_999, off)], off);
    expect(times()).toEqual([1, 35_999]);
  });

  it('is corrected for the events of all tabs that are open beside the sending tab', async () => {
    const { track, send, times } = open();
    const off = 3 * HOUR;
    await send(60, [track(1, 50, off), track(2, 55, off), track(1, 58, off)], off, 20);
    expect(times()).toEqual([50, 55, 58]);
  });

  it('is corrected by relays that share `seen`, also for a request that states no clock', async () => {
    const seen = memorySeen();
    const [one, other] = [open({ seen }), open({ seen })];
    await one.send(10, [one.track(1, 1, HOUR)], HOUR);
    await other.send(20, [one.track(1, 11, HOUR)]);
    expect(other.times()).toEqual([11]);
  });

  it('is measured anew by a relay that has forgotten it', async () => {
    const [one, other] = [open(), open()];
    await one.send(10, [one.track(1, 1, HOUR)], HOUR);
    await other.send(20, [one.track(1, 11, HOUR)], HOUR);
    expect(other.times()).toEqual([11]);
  });

  it('is measured anew if `seen` fails', async () => {
    const onError = vi.fn();
    const seen = { ...memorySeen(), offsets: () => Promise.reject(new Error('away')) };
    const { track, send, times } = open({ seen, onError });
    await send(10, [track(1, 1, HOUR)], HOUR);
    expect(times()).toEqual([1]);
    expect(onError).toHaveBeenCalledWith(new Error('away'));
  });

  it('is remembered without the methods for offsets of a `seen`', async () => {
    const { offsets: _, setOffset: __, ...seen } = memorySeen();
    const { track, send, times } = open({ seen });
    await send(10, [track(1, 1, HOUR)], HOUR);
    await send(20, [track(1, 11, HOUR)]);
    expect(times()).toEqual([1, 11]);
  });

  it('is the same after a log-out on the same page load', async () => {
    const { track, send, times } = open();
    await send(10, [track(LOAD, 1, -HOUR)], -HOUR);
    const others = [track(LOAD, 11, -HOUR), track(LOAD, 12, -HOUR, randomUUID())];
    // The next page sends them, and cannot know whether the clock was set in between.
    await send(30, others, -HOUR, 20);
    expect(times()).toEqual([1, 11, 12]);
  });

  it('is corrected although the first request of the page load has stated no clock', async () => {
    const { track, send, times } = open();
    await send(10, [track(LOAD, 1)]);
    await send(20, [track(LOAD, 11, -HOUR)], -HOUR);
    expect(times()).toEqual([1, 11]);
  });

  it('is measured once for two requests that arrive at the same time', async () => {
    const memory = memorySeen();
    let ask = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    // Both requests ask before one of them has an answer.
    const offsets: typeof memory.offsets = async (names) => {
      const found = await memory.offsets?.(names);
      await asked;
      return found ?? [];
    };
    const { track, send, times } = open({ seen: { ...memory, offsets } });
    // The first one was in transit for four seconds, in which the page tracked another event and left.
    const slow = send(14, [track(LOAD, 10, -HOUR)], -HOUR - 4 * SECOND);
    const last = send(14, [track(LOAD, 13, -HOUR)], -HOUR);
    ask();
    await Promise.all([slow, last]);
    expect(times().sort((one, other) => one - other)).toEqual([14, 17]);
  });

  it('is not corrected with `correctClock: false`', async () => {
    const { track, send, times } = open({ correctClock: false });
    await send(10, [track(1, 1, HOUR)], HOUR);
    expect(times()).toEqual([3601]);
  });
});

it.each([121_000, 119_900, 120_500])(
  'a clock that is wrong by about two minutes (%i ms) keeps one offset for a page load',
  async (off) => {
    for (const sign of [1, -1]) {
      const { track, send, times } = open();
      for (const [at, transit] of [
        [0, 1.5],
        [10, 0.05],
        [20, 3],
        [30, 0],
      ] as const)
        await send(
          at + 1 + transit,
          [track(LOAD, at, sign * off), track(LOAD, at + 1, sign * off)],
          sign * off - transit * SECOND,
        );
      const found = times();
      expect(found.map((time) => Math.round((time - (found[0] ?? 0)) * 1000) / 1000)).toEqual([
        0, 1, 10, 11, 20, 21, 30, 31,
      ]);
    }
  },
);

describe('a clock that was set', () => {
  it('twice, by minutes and then by years, loses no event', async () => {
    const { track, send, times } = open();
    await send(10, [track(LOAD, 1, 300 * SECOND), track(LOAD, 2, TEN_YEARS)], TEN_YEARS);
    expect(times()).toEqual([2, 2]);
  });

  it('between two page loads is corrected for each by its own offset', async () => {
    const { track, send, times } = open();
    await send(10, [track(1, 1)], 0);
    const left = track(1, 12);
    await send(30, [left, track(2, 25, 3 * HOUR)], 3 * HOUR, 20);
    expect(times()).toEqual([1, 12, 25]);
  });

  it.each([HOUR, -HOUR, TEN_YEARS, -TEN_YEARS])(
    'by %i ms moves no event of a page load whose clock the relay does not know',
    async (off) => {
      const { track, send, times } = open();
      await send(30, [track(1, 12), track(2, 25, off)], off, 20);
      expect(times()).toEqual([12, 25]);
    },
  );

  it.each([HOUR, TEN_YEARS])('ahead by %i ms during a page load is corrected from then on', async (off) => {
    const { track, send, times } = open();
    await send(10, [track(1, 1)], 0);
    await send(20, [track(1, 11), track(1, 18, off)], off);
    await send(30, [track(1, 28, off)], off);
    expect(times()).toEqual([1, 11, 18, 28]);
  });

  it.each([300 * SECOND, TEN_YEARS])('ahead by %i ms moves no event from before that comes late', async (off) => {
    const { track, send, times } = open();
    await send(10, [track(1, 1)], 0);
    const late = track(1, 11);
    await send(20, [track(1, 18, off)], off);
    await send(30, [late, track(1, 28, off)], off);
    expect(times()).toEqual([1, 18, 11, 28]);
  });

  it.each([300 * SECOND, HOUR])('ahead by %i ms changes no order if a batch is delayed by minutes', async (off) => {
    const { track, send, times } = open();
    await send(10, [track(1, 1)], 0);
    await send(20, [track(1, 18, off)], off);
    await send(400, [track(1, 120, off), track(1, 390, off)], off);
    expect(times()).toEqual([1, 18, 120, 390]);
  });

  it('right: events from the future are placed before their arrival, in their order', async () => {
    const { track, send, times } = open();
    await send(30, [track(1, 1, TEN_YEARS), track(1, 3, TEN_YEARS), track(2, 25)], 0, 20);
    expect(times()).toEqual([28, 30, 25]);
  });
});

describe('events of a page load in one request', () => {
  const RUNS = 20_000;
  /** A distance (ms) that the relay may take for right, for a clock that was set, or for too old. */
  const distance = fc
    .constantFrom(10 * SECOND, 150 * SECOND, 400 * SECOND, HOUR, 25 * DAY, 90 * DAY, TEN_YEARS)
    .chain((most) => fc.integer({ min: 0, max: most }));
  const ahead = distance.map((ms) => START + ms);
  const behind = distance.map((ms) => START - ms);
  const maxPast = 60 * DAY;

  it('keep their order if only the last one is from the future', async () => {
    const { track, send, times } = open();
    await send(0, [track(LOAD, 60), track(LOAD, 300)], 0, -1);
    expect(times()).toEqual([60, 60]);
  });

  it('keep their order, whatever clocks they have', async () => {
    const time = fc.oneof(ahead, behind);
    const request = fc.record({
      times: fc.array(time, { minLength: 2, maxLength: 6 }),
      known: fc.option(
        fc.oneof(
          fc.constant(0),
          time.map((at) => at - START),
        ),
        { nil: undefined },
      ),
      reading: fc.tuple(time, distance, distance),
    });
    await hold(
      fc.asyncProperty(request, async ({ times, ...rest }) => {
        const inOrder = times.sort((one, other) => one - other);
        const offsets = offsetsFor({ times: inOrder, ...rest, at: START, maxPast });
        const corrected = inOrder.map((time, at) => time + (offsets[at] ?? 0));
        expect(corrected).toEqual([...corrected].sort((one, other) => one - other));
      }),
      RUNS,
    );
  });

  it('keep a right time beside events from the future', async () => {
    const request = fc.record({
      right: fc.array(
        behind.filter((time) => time >= START - maxPast),
        { minLength: 1, maxLength: 4 },
      ),
      wrong: fc.array(ahead, { minLength: 1, maxLength: 4 }),
      known: fc.constantFrom(0, undefined),
      reading: fc.tuple(fc.constant(START), distance, distance),
    });
    await hold(
      fc.asyncProperty(request, async ({ right, wrong, ...rest }) => {
        const offsets = offsetsFor({ times: [...right, ...wrong], ...rest, at: START, maxPast });
        expect(offsets.slice(0, right.length)).toEqual(right.map(() => 0));
      }),
      RUNS,
    );
  });

  it('keep a right time beside later events of a clock that was set ahead', async () => {
    const request = fc.record({
      right: behind.filter((time) => time >= START - maxPast),
      later: fc.array(distance, { minLength: 1, maxLength: 4 }),
      off: distance.map((ms) => ms + 151 * SECOND),
    });
    await hold(
      fc.asyncProperty(request, async ({ right, later, off }) => {
        const times = [right, ...later.map((ms) => Math.min(right + ms, START) + off)];
        const reading = [START + off, DAY] as const;
        expect(offsetsFor({ times, known: 0, reading, at: START, maxPast })[0]).toBe(0);
      }),
      RUNS,
    );
  });
});

it('an older tab sends the events of a page that was opened after the clock was set back', async () => {
  const { relay, track, times } = open();
  vi.setSystemTime(START + 60_000);
  const clock = [Date.now(), 60_000, TEN_YEARS];
  await relay(requestOf({ batch: [track(2, 50, -TEN_YEARS), track(2, 55, -TEN_YEARS)], clock }));
  expect(times()).toEqual([50, 55]);
});

it('a clock that was set back twice, by years, loses no events', async () => {
  const { track, send, times } = open();
  await send(30, [track(1, 1, -TEN_YEARS), track(1, 3, -TEN_YEARS), track(2, 25, -2 * TEN_YEARS)], -2 * TEN_YEARS, 20);
  expect(times()).toEqual([28, 30, 25]);
});

it('a clock beyond all dates is answered, also with `maxPast: Infinity`', async () => {
  const { relay } = open({ maxPast: Number.POSITIVE_INFINITY });
  const one = event('a', { seq: [LOAD, 1], timestamp: new Date(START).toISOString() });
  const response = await relay(requestOf({ batch: [one], clock: [1e300, 1e300] }));
  expect(response.status).toBeLessThan(300);
});

describe('events too far away', () => {
  const rejectedBy = async (options: Partial<RelayOptions>, days: number, clock?: number) => {
    const { track, send, times } = open(options);
    const answer = await send(0, [track(1, days * 86_400)], clock);
    return [times().length, answer?.rejected?.map(({ reason }) => reason)];
  };

  it('in the past are rejected with the reason, but those of a month offline are taken', async () => {
    expect(await rejectedBy({}, -31, 0)).toEqual([1, undefined]);
    const reason = "timestamp: expected at most 5184000000 ms before the relay's clock";
    expect(await rejectedBy({}, -61, 0)).toEqual([0, [reason]]);
    expect(await rejectedBy({ maxPast: 62 * DAY }, -61, 0)).toEqual([1, undefined]);
  });

  it('in the future are rejected with the reason if the page does not state its clock', async () => {
    const reason = "timestamp: expected at most 86400000 ms after the relay's clock";
    expect(await rejectedBy({}, 2)).toEqual([0, [reason]]);
    expect(await rejectedBy({ correctClock: false }, 2, 2 * DAY)).toEqual([0, [reason]]);
    expect(await rejectedBy({ maxFuture: 3 * DAY }, 2)).toEqual([1, undefined]);
  });

  it('are not missing', async () => {
    const reports: RelayReport[] = [];
    const { relay, track, send } = open({ onReport: (report) => reports.push(report) });
    await send(10, [track(1, -61 * 86_400), track(1, 5)], 0);
    await relay.close();
    expect(reports).toEqual([{ taken: 1, repeats: 0, rejected: 1, missing: 0, corrected: 0, books: [] }]);
  });
});

it('counts the corrections of events that the service has taken', async () => {
  const reports: RelayReport[] = [];
  const { relay, track, send } = open({ onReport: (report) => reports.push(report) });
  const batch = [track(1, 1, HOUR), track(1, 2, HOUR)];
  await send(10, batch, HOUR);
  await send(11, batch, HOUR);
  expect(relay.metrics()).toContain('clew_relay_corrected_events_total 2\n');
  await relay.close();
  expect(reports).toEqual([{ taken: 2, repeats: 2, rejected: 0, missing: 0, corrected: 2, books: [] }]);
});

it('forwards no statement, and takes none of another form for one', async () => {
  const { relay, received, track, times } = open();
  for (const clock of [[START, 0], 'x', [1], [START + HOUR, 'x'], null, [START, 0, 0, 0]])
    await relay(requestOf({ batch: [track(1, 0)], clock }));
  expect(times()).toEqual([0, 0, 0, 0, 0, 0]);
  await relay(requestOf({ ...event('now'), clock: [START, 0] }, { path: SINGLE }));
  expect(received.filter(({ body }) => body.includes('clock'))).toEqual([]);
});

it('shows `accept` the corrected time', async () => {
  const accept = vi.fn(() => true);
  const { track, send } = open({ accept });
  await send(10, [track(1, 1, HOUR)], HOUR);
  expect(accept).toHaveBeenCalledWith(
    expect.objectContaining({ timestamp: new Date(START + SECOND).toISOString() }),
    expect.anything(),
  );
});
