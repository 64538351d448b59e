import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Order, WorkerReport } from './worker.ts';

const runWorker = (order: Order): Promise<WorkerReport> =>
  new Promise((resolve, reject) => {
    const worker = fork(join(import.meta.dirname, 'worker.ts'), { execArgv: ['--import', 'tsx'] });
    let report: WorkerReport | undefined;
    worker.once('message', (message) => {
      report = message as WorkerReport;
    });
    worker.once('exit', (code) => (report ? resolve(report) : reject(new Error(`a worker ended with ${code}`))));
    worker.send(order);
  });

/** Walks seeds `from` to `from + count - 1`, in as many processes as there are processors. */
export const walkAll = async (from: number, count: number, steps: number, folder?: string): Promise<WorkerReport> => {
  const workers = Math.min(availableParallelism(), 8);
  const seeds = Array.from({ length: count }, (_, index) => from + index);
  const reports = await Promise.all(
    Array.from({ length: workers }, (_, worker) =>
      runWorker({ seeds: seeds.filter((_, index) => index % workers === worker), steps, folder }),
    ),
  );
  return {
    findings: reports.flatMap(({ findings }) => findings).sort((a, b) => a.seed - b.seed),
    tasks: reports.reduce((sum, { tasks }) => sum + tasks, 0),
  };
};
