import { createRandom, type Random } from '../world/random.ts';
import type { Action, Plan, Step, ThemeName } from './plan.ts';
import { themes } from './themes/themes.ts';

const pickAction = (random: Random, theme: ThemeName): Action => {
  const actions = Object.values(themes[theme].actions);
  let left = random.between(
    0,
    actions.reduce((sum, [weight]) => sum + weight, 0),
  );
  const tab = random.below(3);
  for (const [weight, make] of actions) {
    left -= weight;
    if (left < 0) return make(random, tab);
  }
  return { verb: 'flush', tab };
};

const pickWait = (random: Random): Step['wait'] =>
  random.chance(0.5)
    ? { tasks: random.below(12) }
    : { ms: Math.round(random.pick([0, 5, 60, 800, 5000, 40_000]) * random.next()) };

/** Shares of walks with a theme of a separate stream. So the themes of the other walks are those from before these themes existed. */
const SHARES = {
  calls: 0.06,
  tokens: 0.04,
  dormant: 0.03,
  upstream: 0.05,
  statuses: 0.04,
  foreign: 0.05,
} satisfies Partial<Record<ThemeName, number>>;
const SEPARATE = Object.keys(SHARES) as (keyof typeof SHARES)[];
const PICKED = (Object.keys(themes) as ThemeName[]).filter((name) => !(name in SHARES));

/** The theme of a seed's walk. Most walks have none, because the common verbs find most faults, and their rates can be compared over time. */
export const pickTheme = (seed: number): ThemeName => {
  const separate = SEPARATE.find((name) => createRandom(`${name} ${seed}`).chance(SHARES[name]));
  if (separate) return separate;
  const random = createRandom(`theme ${seed}`);
  return random.chance(0.6) ? 'plain' : random.pick(PICKED);
};

/** Whether the browser sends Global Privacy Control, which counts as a refusal until the site calls `consent(true)`. */
const sendsGpc = (seed: number, theme: ThemeName): boolean =>
  theme === 'consent' && createRandom(`gpc ${seed}`).chance(0.15);

/** Share of walks that are dense: short, with few tasks between the steps. */
const DENSE = 0.2;

const pickShortWait = (random: Random): Step['wait'] => {
  if (random.chance(0.7)) return { tasks: random.below(12) };
  return { ms: random.chance(0.6) ? random.below(20) : Math.round(random.pick([100, 3000, 12_000]) * random.next()) };
};

/** The first steps of a plan, in few tabs and a few tasks apart. Pages that begin and end together show faults of order. */
const densely = (plan: Plan, random: Random): Plan => {
  const tabs = 1 + random.below(3);
  const inTab = (action: Action): Action => ('tab' in action ? { ...action, tab: action.tab % tabs } : action);
  const steps = plan.steps.slice(0, 6 + random.below(8));
  return { ...plan, steps: steps.map(({ action }) => ({ wait: pickShortWait(random), action: inTab(action) })) };
};

/** In one of so many walks, tabs see each other's writes into localStorage a moment later. */
const LAGGING = 8;
/** These walks, of as many, compress each body in a task of its own. */
const PACKING = 4;

/** Share of walks with the option `cookieDomain`. */
const COOKIES = 0.15;

/** Makes the plan of a walk from its seed. The plan does not fix how long the browser and the network take. */
export const createPlan = (seed: number, steps = 25): Plan => {
  const theme = pickTheme(seed);
  const random = createRandom(`plan ${seed}`);
  // Without a relay, nothing is upstream.
  const isDirect = random.chance(0.25) && theme !== 'upstream';
  const hasGpc = sendsGpc(seed, theme);
  const plan: Plan = {
    seed,
    theme,
    isDirect,
    features: {
      hasLocks: random.chance(0.9),
      hasChannel: random.chance(0.9),
      hasFetchLater: random.chance(0.5),
      hasGpc,
      ...(seed % LAGGING === 0 && { hasLag: true }),
      ...(seed % LAGGING === PACKING && { hasSlowGzip: true }),
      ...themes[theme].features,
    },
    dataset: {
      ...(isDirect ? { baseUrl: 'https://service.example', apiKey: 'sim-key' } : { baseUrl: '/clew' }),
      ...(random.chance(0.3) && { flushInterval: '200' }),
      ...(random.chance(0.2) && { maxBatchEvents: '5' }),
      ...(random.chance(0.3) && { compress: 'false' }),
      ...themes[theme].dataset,
      ...(createRandom(`cookies ${seed}`).chance(COOKIES) && { cookieDomain: 'auto' }),
      ...(hasGpc && { consent: 'granted', respectGpc: 'true' }),
    },
    hasStub: random.chance(0.5),
    ...themes[theme].more?.(random.fork(theme)),
    steps: Array.from({ length: steps }, () => ({ wait: pickWait(random), action: pickAction(random, theme) })),
  };
  const density = createRandom(`dense ${seed}`);
  return density.chance(DENSE) ? densely(plan, density) : plan;
};
