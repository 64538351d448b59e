// Random walks of a visitor: npm run test:walks -- --seeds 100 --steps 25, or --seed 17 for one of them, step by step.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readArguments } from '../../test/support/arguments.ts';

const USAGE = `npm run test:walks -- [--seeds COUNT] [--from SEED] [--steps COUNT] [--seed SEED]
  --seeds  number of walks (6)
  --from   seed of the first walk (1)
  --steps  steps of each walk (25)
  --seed   runs only this walk and prints its steps`;

const { given, count } = readArguments(USAGE, {
  seeds: { type: 'string', default: '6' },
  from: { type: 'string', default: '1' },
  steps: { type: 'string', default: '25' },
  seed: { type: 'string' },
});

const steps = count('steps');
const seeds =
  given.seed === undefined
    ? Array.from({ length: count('seeds') }, (_, index) => count('from') + index)
    : [count('seed')];
const { status } = spawnSync(
  process.execPath,
  [fileURLToPath(import.meta.resolve('@playwright/test/cli')), 'test', '-c', import.meta.dirname],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      WALK_SEEDS: seeds.join(','),
      WALK_STEPS: `${steps}`,
      ...(given.seed !== undefined && { WALK_PRINT: 'yes' }),
    },
  },
);
process.exit(status ?? 1);
