import type { Features } from '../browser/browser.ts';
import { createRandom, type Random } from '../world/random.ts';

/** What happens in a step. `tab` is taken modulo the number of tabs. */
export type Action =
  | { readonly verb: 'open' | 'close' | 'navigate' | 'back' | 'crash' | 'hide' | 'show'; readonly tab: number }
  | { readonly verb: 'track'; readonly tab: number; readonly count: number; readonly name: 'walk' | 'poison' }
  | { readonly verb: 'trackAndLeave'; readonly tab: number; readonly count: number; readonly size?: number }
  | { readonly verb: 'identify'; readonly tab: number; readonly person: string }
  | { readonly verb: 'reset' | 'flush' | 'setProperties'; readonly tab: number }
  | { readonly verb: 'identifyAndLeave'; readonly tab: number; readonly person: string }
  | { readonly verb: 'resetAndLeave'; readonly tab: number }
  | { readonly verb: 'kill' | 'offline' | 'online' | 'restartRelay' | 'clearDatabase' }
  | { readonly verb: 'network'; readonly kind: 'fair' | 'slow' | 'lossy' | 'foreign' | 'hangs' }
  | {
      readonly verb: 'service';
      readonly status: number | undefined;
      readonly takes: boolean;
      readonly retryAfter?: string;
    }
  | { readonly verb: 'busyDatabase'; readonly ms: number }
  | { readonly verb: 'slowDisk'; readonly isSlow: boolean };

/** Waits for time, or for a number of tasks, and then acts: a step can fall between any two tasks. */
export interface Step {
  readonly wait: { readonly ms: number } | { readonly tasks: number };
  readonly action: Action;
}

export interface Plan {
  readonly seed: number;
  readonly isDirect: boolean;
  readonly features: Features;
  /** Options of the script tag. */
  readonly dataset: Readonly<Record<string, string>>;
  readonly hasStub: boolean;
  readonly steps: readonly Step[];
}

/** Whether a request can fail anywhere in the plan. */
export const hasFaults = ({ steps }: Plan): boolean =>
  steps.some(({ action: { verb } }) => verb === 'network' || verb === 'service' || verb === 'offline');

/** Whether an action has this verb, or tracks an event of this name, anywhere in the plan. */
export const has = ({ steps }: Plan, ...verbs: readonly (Action['verb'] | 'poison')[]): boolean =>
  steps.some(({ action }) => verbs.includes(action.verb) || ('name' in action && verbs.includes(action.name as never)));

/** Whether the service refuses a request because of what is in it, anywhere in the plan. */
export const hasRefusals = ({ steps }: Plan): boolean =>
  steps.some(({ action }) => action.verb === 'service' && [500, 413].includes(action.status ?? 0));

const PERSONS = ['ann', 'bob'];
const STATUSES = [500, 503, 429, 401, 404, 413];

const actions: Readonly<Record<string, [weight: number, make: (random: Random, tab: number) => Action]>> = {
  track: [
    24,
    (random, tab) => ({ verb: 'track', tab, count: random.chance(0.1) ? 60 : 1 + random.below(4), name: 'walk' }),
  ],
  poison: [1, (_, tab) => ({ verb: 'track', tab, count: 1, name: 'poison' })],
  trackAndLeave: [
    8,
    (random, tab) => ({
      verb: 'trackAndLeave',
      tab,
      // Together more than a browser takes of a page that leaves.
      ...(random.chance(0.15) ? { count: 4, size: 20_000 } : { count: 1 + random.below(3) }),
    }),
  ],
  navigate: [6, (_, tab) => ({ verb: 'navigate', tab })],
  back: [4, (_, tab) => ({ verb: 'back', tab })],
  open: [3, (_, tab) => ({ verb: 'open', tab })],
  close: [2, (_, tab) => ({ verb: 'close', tab })],
  identify: [6, (random, tab) => ({ verb: 'identify', tab, person: random.pick(PERSONS) })],
  identifyAndLeave: [2, (random, tab) => ({ verb: 'identifyAndLeave', tab, person: random.pick(PERSONS) })],
  reset: [3, (_, tab) => ({ verb: 'reset', tab })],
  resetAndLeave: [1, (_, tab) => ({ verb: 'resetAndLeave', tab })],
  setProperties: [3, (_, tab) => ({ verb: 'setProperties', tab })],
  flush: [3, (_, tab) => ({ verb: 'flush', tab })],
  hide: [2, (_, tab) => ({ verb: 'hide', tab })],
  show: [2, (_, tab) => ({ verb: 'show', tab })],
  crash: [2, (_, tab) => ({ verb: 'crash', tab })],
  kill: [1, () => ({ verb: 'kill' })],
  offline: [2, () => ({ verb: 'offline' })],
  online: [3, () => ({ verb: 'online' })],
  restartRelay: [1, () => ({ verb: 'restartRelay' })],
  clearDatabase: [0.3, () => ({ verb: 'clearDatabase' })],
  fair: [4, () => ({ verb: 'network', kind: 'fair' })],
  network: [4, (random) => ({ verb: 'network', kind: random.pick(['slow', 'lossy', 'foreign', 'hangs'] as const) })],
  service: [
    4,
    (random) => ({
      verb: 'service',
      status: random.pick(STATUSES),
      takes: random.chance(0.2),
      ...(random.chance(0.2) && { retryAfter: '30' }),
    }),
  ],
  serviceWell: [4, () => ({ verb: 'service', status: undefined, takes: false })],
  busyDatabase: [2, (random) => ({ verb: 'busyDatabase', ms: random.pick([20, 200, 4000]) })],
  slowDisk: [1, (random) => ({ verb: 'slowDisk', isSlow: random.chance(0.5) })],
};

const total = Object.values(actions).reduce((sum, [weight]) => sum + weight, 0);

const pickAction = (random: Random): Action => {
  let left = random.between(0, total);
  const tab = random.below(3);
  for (const [weight, make] of Object.values(actions)) {
    left -= weight;
    if (left < 0) return make(random, tab);
  }
  return { verb: 'flush', tab };
};

const pickWait = (random: Random): Step['wait'] =>
  random.chance(0.5)
    ? { tasks: random.below(12) }
    : { ms: Math.round(random.pick([0, 5, 60, 800, 5000, 40_000]) * random.next()) };

/** The plan of a walk, made from its seed: what happens, not how long the browser and the network take. */
export const createPlan = (seed: number, steps = 25): Plan => {
  const random = createRandom(`plan ${seed}`);
  const isDirect = random.chance(0.25);
  return {
    seed,
    isDirect,
    features: {
      hasLocks: random.chance(0.9),
      hasChannel: random.chance(0.9),
      hasFetchLater: random.chance(0.5),
      hasGpc: false,
    },
    dataset: {
      ...(isDirect ? { baseUrl: 'https://service.example', apiKey: 'sim-key' } : { baseUrl: '/clew' }),
      ...(random.chance(0.3) && { flushInterval: '200' }),
      ...(random.chance(0.2) && { maxBatchEvents: '5' }),
      ...(random.chance(0.3) && { compress: 'false' }),
    },
    hasStub: random.chance(0.5),
    steps: Array.from({ length: steps }, () => ({ wait: pickWait(random), action: pickAction(random) })),
  };
};
