import { loadScripts } from '../bundle.ts';
import { createHunt, type Hunt } from './hunt.ts';

/** The parent's message: hunt the mutant in `folder`. */
export interface HuntOrder {
  readonly folder: string;
  readonly plain: string;
  readonly seeds: number;
  readonly steps: number;
}

export interface HuntReport extends Hunt {
  readonly seconds: number;
}

let hunt: ReturnType<typeof createHunt> | undefined;

process.on('message', async ({ folder, plain, seeds, steps }: HuntOrder) => {
  hunt ??= createHunt(await loadScripts(plain), steps);
  const begun = performance.now();
  const found = await hunt(await loadScripts(folder), seeds);
  const report: HuntReport = { ...found, seconds: (performance.now() - begun) / 1000 };
  process.send?.(report);
});
