// @module-tag promise
import { beforeAll, describe, expect, it } from 'vitest';
import { loadScripts, type Scripts } from '../../sim/bundle.ts';
import { now, relayed } from '../../sim/walk/breakPlans.ts';
import { INVARIANTS } from '../../sim/walk/checks.ts';
import { createHistory } from '../../sim/walk/history.ts';
import { breaksTrickle } from '../../sim/walk/npm/trickleCheck.ts';
import type { Action, Plan } from '../../sim/walk/plan.ts';
import { runPlan } from '../../sim/walk/run.ts';
import type { Stage } from '../../sim/walk/stage.ts';

let scripts: Scripts;
beforeAll(async () => {
  scripts = await loadScripts();
});

/** Runs a walk of these actions, two seconds apart, in pages that import clew. */
const walk = async (actions: readonly Action[], npm: Plan['npm'] = { hasOther: false, hasTransport: false }) => {
  const steps = actions.map((action, index) => ({ wait: index ? { ms: 2000 } : now, action }));
  const lines: string[] = [];
  const plan = relayed(1, steps, { theme: 'npm', hasStub: false, ...(npm && { npm }) });
  const { broken } = await runPlan(scripts, plan, (line) => lines.push(line));
  return { broken, linesWith: (text: string) => lines.filter((line) => line.includes(text)) };
};

const track: Action = { verb: 'track', tab: 0, count: 3, name: 'walk' };

it('delivers the events of two trackers on a page through two relays and identifies at both', async () => {
  const { broken, linesWith } = await walk(
    [track, { verb: 'trackOther', tab: 0, count: 2 }, { verb: 'identify', tab: 0, person: 'ann' }],
    { hasOther: true, hasTransport: false },
  );
  expect(broken).toEqual([]);
  expect(linesWith('service   takes walk {"n":4}')).toHaveLength(1);
  expect(linesWith('service   takes $identify {"distinct_id":"ann"}')).toHaveLength(2);
  expect(linesWith('other     answers page1 201').length).toBeGreaterThan(0);
});

it.each(['throws', 'tracks', 'identifies', 'flushes', 'stops'] as const)(
  'breaks no invariant if a listener %s',
  async (reaction) => {
    const { broken, linesWith } = await walk([
      track,
      { verb: 'listen', tab: 0, signal: 'delivered', reaction },
      track,
      { verb: 'setProperties', tab: 0 },
    ]);
    expect(broken).toEqual([]);
    expect(linesWith('service   takes walk {"n":6}')).toHaveLength(1);
    if (reaction === 'throws') expect(linesWith('listener threw').length).toBeGreaterThan(0);
  },
);

it.each(['drops', 'throws', 'spoils'] as const)('counts an event as filtered if beforeSend %s', async (kind) => {
  const { broken, linesWith } = await walk([{ verb: 'beforeSend', kind }, track, track]);
  expect(broken).toEqual([]);
  expect(linesWith(': filtered')).toHaveLength(2);
  expect(linesWith('takes walk {"n":2}')).toHaveLength(1);
  expect(linesWith('takes walk {"n":3}')).toEqual([]);
});

it.each(['rejects', 'rejectsLate', 'throws', 'refuses'] as const)(
  'loses no event if the transport %s',
  async (kind) => {
    const { broken, linesWith } = await walk([{ verb: 'transport', kind }, track, track, track], {
      hasOther: false,
      hasTransport: true,
    });
    expect(broken).toEqual([]);
    expect(linesWith(`transport ${kind}`).length).toBeGreaterThan(1);
  },
);

describe('the check of requests while events trickle in', () => {
  const request = (at: number, count: number, n?: number) => ({
    at,
    from: 'page1',
    request: {
      from: 'page1',
      url: '/clew/api/events/batch/',
      headers: {},
      body: JSON.stringify({ batch: Array.from({ length: count }, () => ({ payload: { n } })) }),
    },
    end: {
      at: at + 60,
      isFailed: false,
      retryAfter: 0,
      status: 201,
      serviceStatus: 201,
      handovers: [],
      expired: [],
      pause: 0,
    },
  });
  const stage = (isFair: boolean) => {
    const history = createHistory({ now: () => 4000 });
    history.network(isFair);
    return {
      plan: relayed(1, [{ wait: now, action: { verb: 'trickle', tab: 0, ms: 30_000 } }]),
      acts: [],
      ledger: {
        tracked: new Map([
          [1, { at: 900 }],
          [2, { at: 4050 }],
        ]),
      },
      history,
    } as unknown as Stage;
  };

  it('finds two requests within an interval', () => {
    const requests = [request(1000, 2), request(4000, 9), request(4100, 1, 2)];
    expect(breaksTrickle(stage(true), requests)).toBe('page1 sends at 4.000 s, and again 100 ms later');
  });

  it.each([
    ['requests an interval apart', true, [request(1000, 2), request(4000, 9), request(7000, 9, 2)]],
    ['a full batch', true, [request(1000, 2), request(4000, 200), request(4100, 1, 2)]],
    ['the first request of a page, which proves the link', true, [request(4000, 1), request(4100, 1, 2)]],
    ['a backlog', true, [request(1000, 2), request(4000, 9), request(4100, 1, 1)]],
    ['an $identify, which may be of a backlog', true, [request(1000, 2), request(4000, 9), request(4100, 1)]],
    ['a network that has failed', false, [request(1000, 2), request(4000, 9), request(4100, 1, 2)]],
  ])('accepts %s', (_, isFair, requests) => {
    expect(breaksTrickle(stage(isFair), requests)).toBeUndefined();
  });
});

it('invariants have unique names', () => {
  const names = Object.values(INVARIANTS);
  expect(new Set(names).size).toBe(names.length);
});
