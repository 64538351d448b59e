// @module-tag promise
import { describe, expect, it, vi } from 'vitest';
import { createRandom } from '../../sim/world/random.ts';
import { connectTabs, openPage, start } from '../tracker/page.ts';

vi.hoisted(() => vi.useFakeTimers({ now: 1_770_000_000_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] }));

const later = (ms = 1000) => vi.advanceTimersByTimeAsync(ms);
const PLANS = process.env.TEST_ALL ? 200 : 50;
const STEPS = 12;
/** How long (ms) tabs need until they agree. */
const AGREEING = 500;
/** How late (ms) messages may be to a tab that is busy. */
const BUSY = 20;

const openTab = (more: Parameters<typeof start>[0] = {}) => {
  const page = openPage();
  return { page, ...start({ baseUrl: '/clew', ...more }) };
};
type Tab = ReturnType<typeof openTab>;

/** Time passes meanwhile, as another tab may have the lease. Returns whether that is done within 30 s. */
const flush = async (tabs: readonly Tab[]) => {
  let isDone = false;
  Promise.all(tabs.map(({ tracker }) => tracker.flush())).then(() => {
    isDone = true;
  });
  for (let waits = 0; !isDone && waits < 600; waits++) await later(50);
  return isDone;
};

/** Three tabs of one visitor, of which the first one learns late of the others' calls. */
const play = async (seed: number) => {
  const random = createRandom(seed);
  const { freeze, thaw } = connectTabs();
  const first = openTab();
  const { store, transport } = first;
  const others = [openTab({ store, transport }), openTab({ store, transport })];
  const tabs = () => [first, ...others];
  await later();

  const steps: string[] = [];
  let isLate = false;
  /** The visitor's latest answer of which the first tab learns late. */
  let missed: boolean | undefined;
  let count = 0;
  let stuck = 0;
  /** Tabs that know of a refusal, and of no consent since. */
  const refusing = new Set<Tab>();
  /** The visitor ids that a refusal has ended. */
  const ended = new Set<string>();
  /** Events that have to arrive, and those that a refusal would end. */
  const due = new Set<string>();
  let pending: string[] = [];

  /** The visitor's latest answer. */
  let answer = true;
  /** Tabs in the back/forward cache. */
  const away = new Set<Tab>();
  const informed = () => (isLate ? others : tabs()).filter((tab) => !away.has(tab));
  const idsOf = (of: readonly Tab[]) =>
    Promise.all(of.map(({ tracker }) => tracker.correlationValue().catch(() => '')));
  const track = (tab: Tab, name: string) => {
    tab.tracker.track(name);
    if (informed().includes(tab) && !refusing.has(tab)) pending.push(name);
  };
  const thaws = async () => {
    await thaw();
    if (missed) refusing.delete(first);
    if (missed === false) refusing.add(first);
    missed = undefined;
    isLate = false;
    await later(AGREEING);
  };

  const actions: Readonly<Record<string, (tab: Tab) => unknown>> = {
    async freezes() {
      await later(AGREEING);
      if (!isLate) freeze();
      isLate = true;
    },
    thaws,
    async refuses(tab) {
      if (!informed().includes(tab)) return;
      for (const id of await idsOf(informed())) if (id) ended.add(id);
      tab.tracker.consent(false);
      answer = false;
      for (const one of informed()) refusing.add(one);
      missed = isLate ? false : undefined;
      pending = [];
      await later(random.pick([0, 20, 1000]));
      if (random.chance(0.6)) await actions.consents?.(random.pick(others));
    },
    async consents(tab) {
      if (!informed().includes(tab)) return;
      tab.tracker.consent(true);
      answer = true;
      for (const one of informed()) refusing.delete(one);
      missed = isLate ? true : undefined;
      await later(random.pick([0, 20, 1000]));
    },
    async loads(tab) {
      const index = others.indexOf(tab);
      if (index < 0) return;
      await later(AGREEING);
      tab.page.leave();
      others[index] = openTab({ store, transport });
      await later(AGREEING);
    },
    /** Another tab leaves for the back/forward cache. */
    async leaves(tab) {
      if (!others.includes(tab)) return;
      await later(AGREEING);
      if (!informed().includes(tab)) return;
      tab.page.leave();
      away.add(tab);
      await later(AGREEING);
    },
    async returns(tab) {
      if (!away.delete(tab)) return;
      tab.page.restore();
      if (answer) refusing.delete(tab);
      else refusing.add(tab);
      await later(AGREEING);
    },
    /** The refusal of another service, or a browser, deletes the record. */
    deletesRecord: () => store.clear('/other', ['visitor']),
    tracks: (tab) => track(tab, `event_${++count}`),
    identifies: (tab) => tab.tracker.identify(random.pick(['ann', 'bob'])),
    resets: (tab) => tab.tracker.reset(),
    setsProperties: (tab) => tab.tracker.setProperties({ count }),
    waits: () => later(random.pick([0, 5, 60, 3000])),
    /** All that is tracked by now arrives before the next refusal. */
    async settles() {
      await later(AGREEING);
      if (!(await flush(informed()))) stuck++;
      for (const name of pending.splice(0)) due.add(name);
    },
  };
  for (let step = 0; step < STEPS; step++) {
    const tab = random.pick(tabs());
    const [what, act] = random.pick(Object.entries(actions)) as [string, (tab: Tab) => unknown];
    if (away.has(tab) && what !== 'returns') continue;
    steps.push(`${tabs().indexOf(tab)} ${what}`);
    await act(tab);
    // The messages are there before a timer that the tab has started since.
    if (isLate && tab === first && missed !== undefined) {
      await later(BUSY);
      await thaws();
    } else if (random.chance(0.7)) await later(random.pick([0, 5, 200]));
  }
  await thaws();
  for (const tab of others) await actions.returns?.(tab);
  others[0]?.tracker.consent(true);
  refusing.clear();
  await later(AGREEING);
  for (const tab of tabs()) {
    track(tab, `event_${++count}`);
    await later(AGREEING);
  }
  if (!(await flush(tabs()))) stuck++;
  await later(20_000);
  if (!(await flush(tabs()))) stuck++;
  for (const name of pending) due.add(name);

  const ids = await idsOf(tabs());
  for (const { tracker } of tabs()) tracker.stop();
  const names = first.names().filter((name) => name !== '$identify');
  const persons = new Map<string, Set<unknown>>();
  for (const { correlationValue, payload } of first.events('$identify'))
    persons.set(correlationValue, (persons.get(correlationValue) ?? new Set()).add(Object(payload).distinct_id));
  return {
    steps,
    stuck,
    lost: [...due].filter((name) => !names.includes(name)),
    twice: names.filter((name, index) => names.indexOf(name) < index),
    shared: [...persons.values()].filter(({ size }) => size > 1).map((those) => [...those]),
    ids: new Set(ids).size,
    isBack: ids.some((id) => ended.has(id)),
  };
};

describe('three tabs, one of which learns late of the others’ calls', () => {
  it(`lose no event, agree on one visitor id, and never one that a refusal has ended, in ${PLANS} plans`, async () => {
    const broken: object[] = [];
    for (let seed = 1; seed <= PLANS; seed++) {
      const { steps, ...found } = await play(seed);
      const { lost, twice, shared, ids, isBack, stuck } = found;
      if (stuck || lost[0] || twice[0] || shared[0] || ids > 1 || isBack)
        broken.push({ seed, steps: steps.join(', '), ...found });
    }
    expect(broken).toEqual([]);
  });
});
