import { loadScripts, type Scripts } from './bundle.ts';
import { createPlan } from './walk/createPlan.ts';
import { runPlan } from './walk/run.ts';

/** The parent's message: walk these seeds, one after the other. */
export interface Order {
  readonly seeds: readonly number[];
  readonly steps: number;
  readonly folder: string | undefined;
}

/** An invariant that a walk broke. */
export interface Finding {
  readonly seed: number;
  readonly invariant: string;
  readonly detail: string;
}

export interface WorkerReport {
  readonly findings: readonly Finding[];
  readonly tasks: number;
}

let scripts: Scripts | undefined;

process.on('message', async ({ seeds, steps, folder }: Order) => {
  scripts ??= await loadScripts(folder);
  const findings: Finding[] = [];
  let tasks = 0;
  for (const seed of seeds) {
    const outcome = await runPlan(scripts, createPlan(seed, steps));
    tasks += outcome.tasks;
    findings.push(...outcome.broken.map(({ invariant, detail }) => ({ seed, invariant, detail })));
  }
  const report: WorkerReport = { findings, tasks };
  process.send?.(report);
});
