// @module-tag promise
import { it } from 'vitest';
import { playKills } from './kills.ts';

it('67 a collector killed once within a batch has all confirmed events and no half batch', async () => {
  await playKills(1);
}, 120_000);
