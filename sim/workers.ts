import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * Options of V8. A walk allocates much and keeps it until its end, so a small young generation would copy it again and
 * again. Garbage collection in worker threads would take the processors from the other workers.
 */
const MEMORY = ['--min-semi-space-size=64', '--max-semi-space-size=64', '--single-threaded-gc'];
/** A page's code runs for moments only, so the optimising compiler takes more time than its code saves. */
const COMPILER = ['--no-opt', '--always-sparkplug'];

/** @param file a script that answers each message with one message */
export const startWorker = (file: string): ChildProcess =>
  fork(file, { execArgv: [...MEMORY, ...COMPILER, '--import', 'tsx'] });

/** Resolves to the worker's answer. */
export const ask = async <Order extends object, Report>(worker: ChildProcess, order: Order): Promise<Report> => {
  const ended = new AbortController();
  const { signal } = ended;
  worker.send(order);
  const answer = once(worker, 'message', { signal });
  const exit = once(worker, 'exit', { signal });
  const fail = exit.then(([code]) => Promise.reject(new Error(`a worker ended with ${code}`)));
  fail.catch(() => {});
  const [report] = (await Promise.race([answer, fail])) as [Report];
  ended.abort();
  return report;
};
