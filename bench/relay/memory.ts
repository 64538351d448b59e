import { setTimeout as pause } from 'node:timers/promises';
import type { LoadOrder, LoadResult } from './load.ts';
import { load, type OpenServer } from './measure.ts';

export interface MemoryRun {
  start: NodeJS.MemoryUsage;
  /** Once a second, under load. */
  samples: NodeJS.MemoryUsage[];
  result: LoadResult;
}

/** Looks at a server's memory each second while it is under load. */
export const watchMemory = async (server: OpenServer, order: Omit<LoadOrder, 'url'>): Promise<MemoryRun> => {
  const start = (await server.usage()).memory;
  const samples: NodeJS.MemoryUsage[] = [];
  let isRunning = true;
  const running = load({ ...order, url: server.url }).finally(() => {
    isRunning = false;
  });
  while (samples.length < Math.floor(order.seconds) && isRunning) {
    await pause(1000);
    samples.push((await server.usage()).memory);
  }
  return { start, samples, result: await running };
};
