import { databaseFacts } from './database.ts';
import type { Fact } from './fact.ts';
import { pageFacts } from './page.ts';

/** What the simulator assumes of browsers. Each is played in the simulator, Chromium, Firefox and WebKit. */
export const facts: readonly Fact[] = [...databaseFacts, ...pageFacts];
