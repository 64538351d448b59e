/** The possible actions of the visitor, the browser and the network, and how likely each is. */
const WEIGHTS = {
  track: 20,
  burst: 5,
  identify: 4,
  reset: 3,
  navigate: 10,
  back: 6,
  reload: 4,
  'new tab': 7,
  'close tab': 4,
  crash: 3,
  kill: 2,
  quit: 2,
  offline: 4,
  online: 3,
  'answer 500': 4,
  'answer 429': 3,
  hang: 3,
  'reset connection': 4,
  'fault off': 5,
  'clear site data': 2,
} as const;

export type Verb = keyof typeof WEIGHTS;

export interface Step {
  readonly verb: Verb;
  /** 0 ≤ pick < 1: selects the tab, the number of events or the variant. */
  readonly pick: number;
  /** The pause (ms) after the step. */
  readonly after: number;
}

/** Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export const createRandom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const VERBS = Object.keys(WEIGHTS) as Verb[];
/** The verb that ends each fault. Without it, pages could send nothing during most of a walk. */
const ENDS: Partial<Record<Verb, Verb>> = {
  offline: 'online',
  'answer 500': 'fault off',
  'answer 429': 'fault off',
  hang: 'fault off',
  'reset connection': 'fault off',
};
/** How likely the next step is to end the current fault. */
const ENDING = 0.2;
const LONGEST_PAUSE = 250;

const chooseVerb = (random: () => number): Verb => {
  let left = random() * VERBS.reduce((sum, verb) => sum + WEIGHTS[verb], 0);
  const isChosen = (verb: Verb) => {
    left -= WEIGHTS[verb];
    return left < 0;
  };
  return VERBS.find(isChosen) ?? 'track';
};

/** The same seed makes the same steps, everywhere and always. */
export const createWalk = (seed: number, length: number): Step[] => {
  const random = createRandom(seed);
  const goingOn = new Set<Verb>();
  return Array.from({ length }, (): Step => {
    const [ending] = goingOn;
    const verb = ending && random() < ENDING ? ending : chooseVerb(random);
    goingOn.delete(verb);
    const end = ENDS[verb];
    if (end) goingOn.add(end);
    return { verb, pick: random(), after: Math.floor(random() ** 2 * LONGEST_PAUSE) };
  });
};
