import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Whether `taskset` can pin each process to one of two cores. */
export const canPin = spawnSync('taskset', ['-c', '1', 'true']).status === 0;

export interface Child {
  /** Sends a message, and resolves to the answer. */
  ask<Answer>(order: object): Promise<Answer>;
}

const started: ChildProcess[] = [];

/** Runs a file of this folder as a process of its own, on this core. */
export const startProcess = (file: string, args: string[], core: number): Child => {
  const pinned = canPin && {
    execPath: 'taskset',
    execArgv: ['-c', `${core}`, process.execPath, ...process.execArgv],
  };
  const child: ChildProcess = fork(join(import.meta.dirname, file), args, { ...pinned });
  child.once('exit', () => {
    if (child.connected) throw new Error(`${[file, ...args].join(' ')} ended by itself`);
  });
  started.push(child);
  return {
    async ask<Answer>(order: object) {
      const answered = once(child, 'message');
      child.send(order);
      return (await answered)[0] as Answer;
    },
  };
};

export const stopProcesses = async (): Promise<void> => {
  const ended = started.map((child) => once(child, 'exit'));
  for (const child of started) child.disconnect();
  await Promise.all(ended);
};

/** The child's side of `ask`. The child answers one order after the other, and ends once its parent disconnects. */
export const answering = <Order extends object>(answer: (order: Order) => object | Promise<object>): void => {
  process.on('message', async (order) => process.send?.(await answer(order as Order)));
  process.on('disconnect', () => process.exit());
};
