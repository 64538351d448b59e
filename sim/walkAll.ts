import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Order, WorkerReport } from './worker.ts';
import { ask, startWorker } from './workers.ts';

/** Number of seeds of one message to a worker. The number is small, so that no worker is idle while another one has slow walks. */
const PORTION = 20;

/**
 * Walks these seeds, in as many processes as there are processors.
 *
 * @param tell receives each report of a worker, and how many walks are done by then
 */
export const walkAll = async (
  chosen: readonly number[],
  steps: number,
  folder?: string,
  tell: (report: WorkerReport, done: number) => void = () => {},
): Promise<WorkerReport> => {
  const seeds = [...chosen];
  const reports: WorkerReport[] = [];
  const work = async () => {
    const worker = startWorker(join(import.meta.dirname, 'worker.ts'));
    while (seeds[0] !== undefined) {
      const order: Order = { seeds: seeds.splice(0, PORTION), steps, folder };
      const report = await ask<Order, WorkerReport>(worker, order);
      reports.push(report);
      tell(report, Math.min(reports.length * PORTION, chosen.length));
    }
    worker.kill();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 8) }, work));
  return {
    findings: reports.flatMap(({ findings }) => findings).sort((a, b) => a.seed - b.seed),
    tasks: reports.reduce((sum, { tasks }) => sum + tasks, 0),
  };
};
