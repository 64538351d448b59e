// @module-tag promise
import { it } from 'vitest';
import { playKills } from './kills.ts';

it('67 a collector killed in mid-batch, once: what it answered is there after its restart, and no half batch', async () => {
  await playKills(1);
}, 120_000);
