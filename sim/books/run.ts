import type { Scripts } from '../bundle.ts';
import { FAIR } from '../server/network.ts';
import { findFalseAlarm } from '../walk/booksChecks.ts';
import { createPlan } from '../walk/createPlan.ts';
import type { Plan, Step } from '../walk/plan.ts';
import { createStage, type Stage } from '../walk/stage.ts';
import { act } from '../walk/verbs.ts';
import { drainMicrotasks } from '../world/scheduler.ts';
import { createWorld } from '../world/world.ts';
import { deleteRow } from './deletion.ts';

/** Verbs that lose events, or the books themselves, by other causes than a deleted row. */
const OTHER_LOSSES = ['crash', 'kill', 'clearDatabase', 'consent'];
/** After that (ms) a page that has not left counts as crashed. */
const SILENCE = 11 * 60_000;
const HOUR = 3_600_000;
const MOST_VISITS = 20;
/** Share of the steps before which a row is deleted. */
const DELETING = 0.3;

/** The result of a walk: the loss by the relay's books, and the loss by the walk's own knowledge. */
export interface BooksOutcome {
  readonly seed: number;
  readonly tracked: number;
  readonly missing: readonly string[];
  readonly lost: readonly string[];
  readonly unknown: number;
  readonly falseAlarm: string | undefined;
}

/** A common walk with a relay, whose only losses are those that the runner makes. */
const planOf = (seed: number): Plan => {
  const plan = createPlan(seed);
  const isKept = ({ action: { verb } }: Step) => !OTHER_LOSSES.includes(verb);
  return { ...plan, isDirect: false, dataset: { ...plan.dataset, baseUrl: '/clew' }, steps: plan.steps.filter(isKept) };
};

const isUsable = ({ theme, npm }: Plan): boolean => theme === 'plain' && !npm;

/** The first `count` seeds from this one whose walks have no theme. */
export const seedsFrom = (from: number, count: number): number[] => {
  const seeds: number[] = [];
  for (let seed = from; seeds.length < count; seed++) if (isUsable(createPlan(seed))) seeds.push(seed);
  return seeds;
};

const runFor = async ({ world }: Stage, ms: number) => {
  const until = world.scheduler.now() + ms;
  while (await world.scheduler.step(until));
  world.scheduler.skipTo(until);
};

const perform = async (stage: Stage, action: Step['action']) => {
  act(stage, action);
  await drainMicrotasks();
};

/** Ends all faults. The visitor closes all pages and comes back twice, so that the books of all earlier pages are closed. */
const comeBack = async (stage: Stage) => {
  const { network, service, browser, tabs } = stage;
  network.conditions = FAIR;
  service.mood = {};
  browser.disk.speed = [0.05, 1];
  browser.setOnline(true);
  // A page that is about to load belongs to its tab first.
  await runFor(stage, 1000);
  while (tabs[0]) {
    await perform(stage, { verb: 'close', tab: 0 });
    await runFor(stage, 1000);
  }
  for (const wait of [HOUR, SILENCE, HOUR]) {
    await perform(stage, { verb: 'track', tab: 0, count: 1, name: 'walk' });
    await runFor(stage, wait);
  }
  // The service refuses some events again and again. The next request states that the page has given them up.
  for (let visits = 0; visits < MOST_VISITS && stage.relay?.accounts.unknown(); visits++) {
    await perform(stage, { verb: 'track', tab: 0, count: 1, name: 'walk' });
    await perform(stage, { verb: 'flush', tab: 0 });
    await runFor(stage, HOUR);
  }
};

const seqIn = (text: string): string => `${(JSON.parse(text).seq ?? []).join(' ')}`;

/** Walks, deletes rows meanwhile if `isDeleting`, and compares the books with the truth. */
export const runBooks = async (
  scripts: Scripts,
  seed: number,
  isDeleting: boolean,
  print?: (line: string) => void,
): Promise<BooksOutcome> => {
  const plan = planOf(seed);
  const world = createWorld(seed, print);
  const stage = createStage(world, scripts, plan);
  const deleted: string[] = [];
  const random = world.random.fork('deletions');
  for (const { wait, action } of plan.steps) {
    if ('ms' in wait) await runFor(stage, wait.ms);
    else for (let left = wait.tasks; left > 0 && (await world.scheduler.step(world.scheduler.now() + 1000)); left--);
    if (isDeleting && random.chance(DELETING)) deleted.push(...deleteRow(stage));
    await perform(stage, action);
  }
  await comeBack(stage);
  // The relay cannot know of an event that the service has taken and refused at once.
  const stored = new Set(stage.service.stored.flatMap(({ uuid, isConfirmed }) => (isConfirmed ? uuid : [])));
  const isLost = (text: string) => {
    const { uuid, timestamp } = JSON.parse(text);
    return timestamp && !stored.has(uuid) && !stage.dropped.has(uuid);
  };
  const arrived = new Set(stage.service.stored.map(({ payload }) => payload.n));
  const accounts = stage.relay?.accounts;
  const missing = accounts?.missing() ?? new Set<string>();
  return {
    seed,
    tracked: accounts?.tracked() ?? 0,
    missing: [...missing].sort(),
    // A `$identify` has no number if its page has left before the database answered. The docs name this limit.
    lost: [...new Set(deleted.filter(isLost).map(seqIn).filter(Boolean))].sort(),
    // The service still refuses some events again and again. Such events are queued, so the relay cannot know their end.
    unknown: Math.max((accounts?.unknown() ?? 0) - [...stage.onDisk()].filter((n) => !arrived.has(n)).length, 0),
    falseAlarm: isDeleting ? undefined : findFalseAlarm(stage),
  };
};

/** The fault of the books, or undefined. */
export const faultIn = ({ missing, lost, unknown, falseAlarm }: BooksOutcome): string | undefined => {
  if (falseAlarm) return `false alarm: ${falseAlarm}`;
  if (`${missing}` !== `${lost}`) return `missing ${missing.length} [${missing}], lost ${lost.length} [${lost}]`;
  return unknown ? `${unknown} unknown` : undefined;
};
