// @module-tag promise
import { describe, expect, it } from 'vitest';
import { MODERN } from '../../sim/browser/browser.ts';
import { loadScripts } from '../../sim/bundle.ts';
import { direct, keyed, now, relayed } from '../../sim/walk/breakPlans.ts';
import { findDisorderOfPages } from '../../sim/walk/deliveryChecks.ts';
import { createHistory } from '../../sim/walk/history.ts';
import type { Plan, Step } from '../../sim/walk/plan.ts';
import { findSentAgain } from '../../sim/walk/repeatChecks.ts';
import { runPlan } from '../../sim/walk/run.ts';
import type { Stage } from '../../sim/walk/stage.ts';

const UUID = 'bffd99fb-0bd0-41a6-8bff-250be7ff01ad';

/** A request of this page with this event, answered 50 ms later. */
const request = (from: string, at: number, uuid = UUID) => ({
  at,
  from,
  request: { from, url: '/clew/api/events/batch/', headers: {}, body: JSON.stringify({ batch: [{ uuid }] }) },
  end: { at: at + 50, isFailed: false, retryAfter: 0, status: 201, handovers: [], expired: [] },
});

/** A history of these moments, in ms. */
const historyOf = (moments: readonly (readonly [at: number, happen: (history: History) => void])[]) => {
  let time = 0;
  const history = createHistory({ now: () => time });
  for (const [at, happen] of moments) {
    time = at;
    happen(history);
  }
  return history;
};
type History = ReturnType<typeof createHistory>;
const leaves = (page: string) => (history: History) => history.depart({ page, kind: 'leaves', isLoaded: true });

describe('a confirmed event that is sent again', () => {
  /** page2 was in the back/forward cache while page1 sent the event. Later page3 sends it again. */
  const stageOf = (writes: readonly { at: number; page: string; value: unknown }[]) =>
    ({
      plan: relayed(1, []),
      acts: [],
      browser: { writes },
      network: { requests: [request('page1', 2000), request('page3', 9000)] },
      history: historyOf([
        [0, (history) => history.load('page1')],
        [1000, leaves('page2')],
        [5000, (history) => history.restore('page2')],
        [6000, (history) => history.load('page3')],
      ]),
    }) as unknown as Stage;
  const value = { texts: [`{"uuid":"${UUID}"}`] };

  it('is excused if a page had it that came back from the back/forward cache', () => {
    expect(findSentAgain(stageOf([{ at: 1000, page: 'page2', value }]))).toBeUndefined();
  });

  it.each([
    ['no page had it', []],
    ['that page had another one', [{ at: 1000, page: 'page2', value: { texts: ['{"uuid":"other"}'] } }]],
    ['that page had it only later', [{ at: 6000, page: 'page2', value }]],
    ['only another page had it', [{ at: 1000, page: 'page1', value }]],
  ])('is found if %s', (_, writes) => {
    expect(findSentAgain(stageOf(writes))).toContain(`page3 sends ${UUID}`);
  });
});

describe('an event that arrives after one of a later page', () => {
  /** page1 tracks event 1 and leaves. Then page2 tracks event 2, which arrives first. */
  const stageOf = (isDirect: boolean, isSlow: boolean, ...repeats: ReturnType<typeof request>[]) => {
    const tracked = [
      { n: 1, page: 'page1', at: 1000, isReceived: true, isEarly: false },
      { n: 2, page: 'page2', at: 7000, isReceived: true, isEarly: false },
    ];
    const stored = [
      { uuid: 'second', at: 7100, payload: { n: 2 } },
      { uuid: UUID, at: 8000, payload: { n: 1 } },
    ];
    return {
      plan: { ...relayed(1, []), isDirect },
      ledger: { tracked: new Map(tracked.map((event) => [event.n, event])) },
      service: { stored },
      consent: { answers: [] },
      network: { requests: [request('page1', 4000), request('page2', 7050, 'second'), ...repeats] },
      history: historyOf([
        [0, (history) => history.load('page1')],
        [4000, leaves('page1')],
        [4000, (history) => history.network(!isSlow)],
        [4001, (history) => history.load('page2')],
      ]),
    } as unknown as Stage;
  };

  it('is excused if its page handed it over to a service on a slow network', () => {
    expect(findDisorderOfPages(stageOf(true, true))).toBeUndefined();
  });

  it.each([
    [false, undefined],
    [true, 'event 2 before event 1 of page1'],
  ])('is excused by a refusal in between, and not by a grant (isGranted: %s)', (isGranted, expected) => {
    const answers = [{ at: 5000, page: 'page2', isGranted, tracked: 1, requests: 1 }];
    expect(findDisorderOfPages({ ...stageOf(true, false), consent: { answers } as never })).toBe(expected);
  });

  it.each([
    ['the network was fast', stageOf(true, false)],
    ['its page handed it over to a relay, whose answer later events await', stageOf(false, true)],
    ['the later page sent it, too', stageOf(true, true, request('page2', 7500))],
  ])('is found if %s', (_, stage) => {
    expect(findDisorderOfPages(stage)).toBe('event 2 before event 1 of page1');
  });
});

describe('calls of the stub that a SIGKILL brings back', () => {
  const KEY = 'clew.calls 1767225600066 3866667062,2439656407,2711168335,930928257';

  it('are known by the ids of their events', () => {
    const history = historyOf([
      [10, (history) => history.revive(KEY)],
      [20, (history) => history.revive('clew.hint')],
    ]);
    expect(history.wasRevived('56407271-1168-4335-8930-928257100000', 0, 30)).toBe(true);
    expect(history.wasRevived('56407271-1168-4335-8930-928257100000', 11, 30)).toBe(false);
    expect(history.wasRevived(UUID, 0, 30)).toBe(false);
  });

  /** The page leaves with the stub's calls, the next one crashes, a third one replays them, and the browser is killed. */
  const steps: readonly Step[] = [
    { wait: now, action: { verb: 'trackAndLeave', tab: 0, count: 1 } },
    { wait: { ms: 1 }, action: { verb: 'crash', tab: 0 } },
    { wait: { ms: 6000 }, action: { verb: 'flush', tab: 0 } },
    { wait: { ms: 1000 }, action: { verb: 'kill' } },
  ];
  const walk = async (plan: Plan) => {
    const lines: string[] = [];
    const { broken } = await runPlan(await loadScripts(), plan, (line) => lines.push(line));
    const count = (text: RegExp) => lines.filter((line) => text.test(line)).length;
    return { broken, sent: count(/ sends .*: 1\b/), stored: count(/takes walk \{"n":1\}/) };
  };

  it('are stored once by a relay', async () => {
    expect(await walk(relayed(1, steps))).toEqual({ broken: [], sent: 2, stored: 1 });
  });

  it('are stored twice without a relay, as the docs state', async () => {
    const plan = relayed(1, steps, { isDirect: true, features: MODERN, dataset: keyed });
    expect(await walk(plan)).toEqual({ broken: [], sent: 2, stored: 2 });
  });
});

describe('without a relay, a page whose listener of an answer stops the tracker', () => {
  const steps: readonly Step[] = [
    { wait: now, action: { verb: 'trackOther', tab: 0, count: 2 } },
    { wait: { tasks: 6 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
    { wait: { ms: 3 }, action: { verb: 'track', tab: 2, count: 1, name: 'walk' } },
    { wait: { ms: 383 }, action: { verb: 'online' } },
    { wait: now, action: { verb: 'service', status: 404, takes: true, retryAfter: '30' } },
    { wait: { ms: 18_348 }, action: { verb: 'listen', tab: 2, signal: 'delivered', reaction: 'stops' } },
  ];
  const npm = { hasOther: true, hasTransport: false };

  it('may keep what it hands over, because the earlier request failed', async () => {
    const plan = relayed(700_727, steps, { ...direct, theme: 'npm', dataset: keyed, npm });
    expect((await runPlan(await loadScripts(), plan)).broken).toEqual([]);
  });
});
