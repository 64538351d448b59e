import type { Scripts } from '../bundle.ts';
import { FAIR } from '../server/network.ts';
import { drainMicrotasks } from '../world/scheduler.ts';
import { type Broken, createWorld } from '../world/world.ts';
import { checkEnd, INVARIANTS, isSettled } from './checks.ts';
import { isRequired } from './consent.ts';
import type { Action, Plan } from './plan.ts';
import { findQueued, LEARNING } from './signalChecks.ts';
import { createStage, type Stage } from './stage.ts';
import { checkPage, checkState } from './stateChecks.ts';
import { themes } from './themes/themes.ts';
import { logState } from './timeline.ts';
import { act } from './verbs.ts';
import { noteWeather } from './weather.ts';

export interface Outcome {
  /** The first break of each invariant. */
  readonly broken: readonly Broken[];
  readonly tasks: number;
}

/** A walk that runs longer than this (virtual ms) after the last fault has lost something. */
const RECOVERY = 2 * 3_600_000;
const MOST_TASKS = 60_000;
/** Ends a walk with more tasks in one step. */
const ENDLESS = new Error(`more than ${MOST_TASKS} tasks in one step`);

/** Runs one task, and checks all states. Resolves to undefined if no task is due before `until`. */
const step = async (stage: Stage, until: number) => {
  const task = await stage.world.scheduler.step(until);
  if (!task) return undefined;
  for (const page of stage.browser.pages) if (page === task.owner) checkPage(stage, page);
  checkState(stage);
  logState(stage, task.label);
  return task;
};

const runUntil = async (stage: Stage, time: number, isDone: () => boolean): Promise<number> => {
  for (let tasks = 0; ; tasks++) {
    if (tasks > MOST_TASKS) throw ENDLESS;
    if (isDone() || !(await step(stage, time))) return tasks;
  }
};

/** Acts in a task of its own: its microtasks run before another task, as after `pagehide` in a browser. */
const perform = async (stage: Stage, action: Action): Promise<void> => {
  act(stage, action);
  await drainMicrotasks();
  logState(stage, action.verb);
};

/** Ends all faults and lets the visitor come back, so that every event without an excuse has to arrive. */
const recover = async (stage: Stage): Promise<number> => {
  const { world, network, service, browser, app } = stage;
  world.log('walk', () => 'recovers');
  network.conditions = FAIR;
  service.mood = {};
  app.transport = 'passes';
  app.beforeSend = 'keeps';
  browser.disk.speed = [0.05, 1];
  browser.setOnline(true);
  themes[stage.plan.theme].recover?.(stage);
  // A page that receives the `online` event ends its back-off.
  stage.history.stir();
  noteWeather(stage);
  await perform(stage, { verb: 'open', tab: 0 });
  if (isRequired(stage)) await perform(stage, { verb: 'consent', tab: 0, isGranted: true });
  await perform(stage, { verb: 'track', tab: 0, count: 1, name: 'walk' });
  const end = world.scheduler.now() + RECOVERY;
  let tasks = 0;
  for (let visit = 0; visit < 4; visit++) {
    let checked = 0;
    tasks += await runUntil(stage, end + visit * RECOVERY, () => ++checked % 50 === 0 && isSettled(stage));
    if (isSettled(stage)) break;
    world.scheduler.skipTo(end + visit * RECOVERY);
    await perform(stage, { verb: 'navigate', tab: 0 });
  }
  return tasks;
};

/** Lets the pages learn that all events have ended. */
const learn = async (stage: Stage): Promise<number> => {
  if (!isSettled(stage)) return 0;
  const tasks = await runUntil(stage, stage.world.scheduler.now() + LEARNING, () => !findQueued(stage));
  const queued = findQueued(stage);
  if (queued) stage.world.break(INVARIANTS.queued, queued);
  return tasks;
};

/** Takes the steps of the plan, recovers and checks the end. Returns how many tasks ran. */
const walk = async (stage: Stage): Promise<number> => {
  const { world, plan } = stage;
  let tasks = 0;
  for (const { wait, action } of plan.steps) {
    const { now } = world.scheduler;
    let left = 'tasks' in wait ? wait.tasks : Number.POSITIVE_INFINITY;
    const until = 'ms' in wait ? now() + wait.ms : now() + 1000;
    tasks += await runUntil(stage, until, () => left-- <= 0);
    if ('ms' in wait) world.scheduler.skipTo(until);
    // Time has passed without a task.
    checkState(stage);
    await perform(stage, action);
  }
  tasks += await recover(stage);
  checkState(stage);
  checkEnd(stage);
  tasks += await learn(stage);
  return tasks;
};

/** Runs a plan to its end. */
export const runPlan = async (scripts: Scripts, plan: Plan, print?: (line: string) => void): Promise<Outcome> => {
  const world = createWorld(plan.seed, print);
  const onRejection = (error: unknown) =>
    world.break(INVARIANTS.error, `unhandled rejection: ${(error as Error)?.stack ?? error}`);
  process.on('unhandledRejection', onRejection);
  let tasks = 0;
  try {
    tasks = await walk(createStage(world, scripts, plan));
  } catch (error) {
    // An exception that `page.guard` does not catch must not end the other walks of the process.
    if (error === ENDLESS) world.break(INVARIANTS.flush, ENDLESS.message);
    else world.break(INVARIANTS.error, `the walk ended: ${(error as Error)?.stack ?? error}`);
  } finally {
    // Node reports an unhandled rejection in a later tick. The rejection still belongs to this walk.
    await drainMicrotasks();
    process.off('unhandledRejection', onRejection);
  }
  const names = new Set<string>();
  const first = world.broken.filter(({ invariant }) => !names.has(invariant) && names.add(invariant));
  return { broken: first, tasks };
};
