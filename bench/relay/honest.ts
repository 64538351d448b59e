import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { FloodOrder, FloodResult } from './flood.ts';
import { type OpenServer, OTHER_CORE } from './measure.ts';
import { startProcess } from './processes.ts';

export interface HonestRun {
  flood: FloodResult;
  /** Latency of each honest request, in ms, in order of size. */
  latencies: number[];
  /** Honest requests that were not answered 2xx. */
  failures: number;
}

/** How often an honest visitor sends an event, in ms. */
const INTERVAL = 20;

/** Sends events of honest visitors, each from an address of their own, while another address floods the relay. */
export const sendDuringFlood = async (server: OpenServer, requests: number): Promise<HonestRun> => {
  const order: FloodOrder = { url: server.url, requests };
  const latencies: number[] = [];
  let failures = 0;
  let isRunning = true;
  const flooding = startProcess('flood.ts', [], OTHER_CORE)
    .ask<FloodResult>(order)
    .finally(() => {
      isRunning = false;
    });
  const send = async (n: number) => {
    const event = {
      uuid: randomUUID(),
      event: 'a',
      source: 'custom',
      correlationKey: '_id',
      correlationValue: randomUUID(),
    };
    const start = performance.now();
    const answer = await fetch(`${server.url}/api/events/batch/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': `198.51.100.${n % 256}` },
      body: JSON.stringify({ batch: [event] }),
    });
    await answer.text();
    latencies.push(performance.now() - start);
    if (!answer.ok) failures++;
  };
  for (let n = 0; isRunning; n++) {
    await send(n);
    await pause(INTERVAL);
  }
  return { flood: await flooding, latencies: latencies.toSorted((a, b) => a - b), failures };
};
