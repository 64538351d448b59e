import { cachedFacts } from './cached.ts';
import { crashedFacts } from './crashed.ts';
import { databaseFacts } from './database.ts';
import type { Fact } from './fact.ts';
import { frozenFacts } from './frozen.ts';
import { laterFacts } from './later.ts';
import { pageFacts } from './page.ts';
import { prerenderedFacts } from './prerendered.ts';
import { tabsFacts } from './tabs.ts';

/** The simulator's assumptions about browsers. Tests play each of them in the simulator, Chromium, Firefox and WebKit. */
export const facts: readonly Fact[] = [
  ...databaseFacts,
  ...pageFacts,
  ...tabsFacts,
  ...cachedFacts,
  ...frozenFacts,
  ...prerenderedFacts,
  ...laterFacts,
  ...crashedFacts,
];
