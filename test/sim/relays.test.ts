// @module-tag promise
import { beforeAll, expect, it } from 'vitest';
import { loadRelay } from '../../sim/bundle.ts';
import { playRelays } from '../../sim/relay/scenario.ts';
import { sweep } from '../../sim/relay/sweep.ts';
import type { Program } from '../../sim/world/program.ts';

let relay: Program;
beforeAll(async () => {
  relay = await loadRelay();
});

it.each([12])(
  'a kill at any moment of seed %i loses nothing, and repeats only what docs/relay.md names',
  async (seed) => {
    const excuses = new Set<string>();
    let runs = 0;
    for await (const { broken, excuses: found, kill } of sweep(relay, seed)) {
      expect(broken, JSON.stringify({ seed, kill })).toEqual([]);
      for (const excuse of found) excuses.add(excuse);
      runs++;
    }
    expect(runs).toBeGreaterThan(250);
    // Each reason occurs, so the checks cover all of them.
    expect([...excuses].toSorted()).toEqual(['answer lost', 'keys lost', 'not written']);
  },
);

it('the same seed and kill give the same timeline', async () => {
  const timelineOf = async (seed: number) => {
    const lines: string[] = [];
    await playRelays(relay, seed, { target: 'relay 1', at: 90 }, (line) => lines.push(line));
    return lines;
  };
  const timeline = await timelineOf(12);
  expect(timeline.length).toBeGreaterThan(100);
  expect(await timelineOf(12)).toEqual(timeline);
  expect(await timelineOf(4)).not.toEqual(timeline);
});
