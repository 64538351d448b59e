import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from '../faults/engines/engine.ts';
import { test } from '../faults/support/fault.ts';
import { openStage } from '../faults/support/stage.ts';
import { createWorld, verbs } from './verbs.ts';
import { createWalk } from './walk.ts';

const { WALK_SEEDS = '1,2,3,4,5,6', WALK_STEPS = '25', WALK_PRINT } = process.env;
const length = Number(WALK_STEPS);

/** A page that crashed while it was sending holds its lease for 22 s, and after that there may be much to send. */
const PATIENCE = 60_000;

const unused = async () => {
  throw new Error('a walk has browsers of its own only');
};
/** Replaces the browser that other tests share. */
const nobody: Engine = {
  name: 'chromium',
  isAlive: () => false,
  newTab: unused,
  closeTabs: unused,
  kill: unused,
  quit: unused,
};

for (const seed of WALK_SEEDS.split(',').map(Number)) {
  test(`seed ${seed}, ${length} steps`, async ({ collector }, { annotations }) => {
    await collector.fault({ mode: 'none' });
    await collector.clear();
    const { stage, finish, close } = await openStage(nobody, collector, PATIENCE);
    const world = createWorld(stage);
    const said: string[] = [];
    const say = (line: string) => {
      said.push(line);
      if (WALK_PRINT) console.log(line);
    };
    const start = Date.now();
    const settle = async () => {
      const verdict = await finish();
      annotations.push({ type: 'verdict', description: JSON.stringify(verdict) });
      const { details } = verdict;
      if (details[0]) throw new Error(details.join('\n'));
    };
    try {
      for (const [index, { verb, pick, after }] of createWalk(seed, length).entries()) {
        const name = `${index + 1}. ${((Date.now() - start) / 1000).toFixed(1)} s ${verb}`;
        const outcome = await verbs[verb](world, pick).catch((error) => {
          say(`${name}: ${error}`);
          throw error;
        });
        say(outcome ? `${name}: ${outcome}` : name);
        await pause(after);
      }
      await settle();
    } catch (error) {
      const replay = `npm run test:walks -- --seed ${seed} --steps ${length}`;
      throw new Error([`seed ${seed}: ${error}`, '', ...said, '', `To replay it: ${replay}`].join('\n'));
    } finally {
      await close();
    }
  });
}
