// @module-tag promise
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answer, Transport, TransportRequest } from '../../src/index.ts';
import { createRelay } from '../../src/relay.ts';
import { requestOf } from '../relay/requests.ts';
import { KEY } from '../relay/stage.ts';
import { createMemoryStore, openPage, settle, start } from './page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const SECOND = 1000;
const HOUR = 3_600_000;
const TEN_YEARS = 10 * 365 * 24 * HOUR;

/** A browser whose clock can be set, and the real relay. The relay has the true time. */
const open = () => {
  let truth = 1_770_000_000_000;
  let off = 0;
  let isOffline = false;
  const stored: { event: string; timestamp: string }[] = [];
  const relay = createRelay({
    baseUrl: 'https://service.example',
    apiKey: KEY,
    allowUnsignedIdentify: true,
    forward: async ({ body }) => {
      stored.push(...JSON.parse(body).batch);
      return new Response(null, { status: 201 });
    },
  });
  const ask = async ({ url, body, leaving }: TransportRequest): Promise<Answer> => {
    const headers = { 'Content-Type': leaving ? 'text/plain' : 'application/json' };
    vi.setSystemTime(truth);
    const answering = relay(requestOf(`${body}`, { path: url, headers }));
    vi.setSystemTime(truth + off);
    const answer = await answering;
    const handovers = answer.headers.get('clew-handovers')?.split(',') as Answer['handovers'];
    return { outcome: answer.ok ? 'delivered' : 'failed', status: answer.status, handovers };
  };
  const transport: Transport = (request) => {
    if (!isOffline) return ask(request);
    return !request.leaving && Promise.resolve({ outcome: 'failed' });
  };
  const store = createMemoryStore();
  const truths = new Map<string, number>();
  const setClock = (to: number) => {
    off = to;
    vi.setSystemTime(truth + off);
  };
  const wait = async (ms: number) => {
    truth += ms;
    vi.setSystemTime(truth + off);
    await settle();
  };
  return {
    setClock,
    wait,
    setOffline(is: boolean) {
      isOffline = is;
    },
    visit() {
      const page = openPage();
      const { tracker } = start({ baseUrl: '/clew', store, compress: false, transport });
      return {
        page,
        flush: () => tracker.flush(),
        async track() {
          const name = `event ${truths.size}`;
          truths.set(name, truth);
          tracker.track(name);
          await wait(SECOND);
        },
      };
    },
    /** How far (ms) the stored time of each event is from the truth, in the order in which they were tracked. */
    errors: () =>
      [...truths].map(([name, at]) => {
        const found = stored.filter(({ event }) => event === name);
        expect(found, name).toHaveLength(1);
        return Date.parse(found[0]?.timestamp ?? '') - at;
      }),
  };
};

/** Within a second of the truth, and so in order: the events are a second apart. */
const expectTrue = (errors: readonly number[], count: number) => {
  expect(errors).toHaveLength(count);
  for (const error of errors) expect(Math.abs(error)).toBeLessThan(SECOND);
};

beforeEach(() => {
  vi.setSystemTime(1_770_000_000_000);
});

describe.each([TEN_YEARS, -TEN_YEARS, 3 * HOUR, -3 * HOUR])('a clock that is off by %i ms', (off) => {
  it('is corrected for batches, handovers, and what the next page sends', async () => {
    const { setClock, visit, wait, errors } = open();
    setClock(off);
    const first = visit();
    await first.track();
    await first.flush();
    await first.track();
    first.page.leave();
    await wait(SECOND);
    const next = visit();
    await next.track();
    await next.flush();
    expectTrue(errors(), 3);
  });

  it('is corrected for events that were delayed by a night offline', async () => {
    const { setClock, setOffline, visit, wait, errors } = open();
    setClock(off);
    const { track, flush } = visit();
    await track();
    setOffline(true);
    await track();
    await flush();
    await wait(9 * HOUR);
    await track();
    setOffline(false);
    await wait(HOUR);
    await flush();
    await flush();
    expectTrue(errors(), 3);
  });

  it('may be set so during a page load', async () => {
    const { setClock, visit, errors } = open();
    const { track, flush } = visit();
    await track();
    await flush();
    setClock(off);
    await track();
    await flush();
    await track();
    await flush();
    expectTrue(errors(), 3);
  });
});

// A clock that was ten years behind makes the events older than `maxAge`, and the tracker drops them: docs/delivery.md has that limit.
it.each([TEN_YEARS, 3 * HOUR, -3 * HOUR])(
  'a clock that is off by %i ms may be set right between two page loads',
  async (off) => {
    const { setClock, setOffline, visit, wait, errors } = open();
    setClock(off);
    const first = visit();
    await first.track();
    await first.flush();
    setOffline(true);
    await first.track();
    await first.track();
    first.page.leave();
    await wait(SECOND);
    setClock(0);
    setOffline(false);
    const next = visit();
    await next.track();
    await next.flush();
    expectTrue(errors(), 4);
  },
);

it('a machine that is asleep for a night has right times before and after', async () => {
  const { setOffline, visit, wait, errors } = open();
  const { track, flush } = visit();
  setOffline(true);
  await track();
  await flush();
  // The clock goes on, and performance.now() does not.
  await wait(9 * HOUR);
  setOffline(false);
  await track();
  await wait(HOUR);
  await flush();
  expectTrue(errors(), 2);
});
