// @module-tag promise
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rawRequest } from './rawRequests.ts';
import { exchange } from './rawSocket.ts';
import { BATCH, event } from './stage.ts';

/** These rounds take about a minute. */
const ROUNDS = 6000;
const HONEST = 4;
/** Connections that send their body a byte in each round. */
const SLOW = 40;
const VISITORS = Array.from({ length: 20 }, () => randomUUID());

let child: ChildProcess;
let url: string;
beforeAll(async () => {
  child = fork(join(import.meta.dirname, 'soaked.ts'), {
    execArgv: ['--import', 'tsx', '--expose-gc', '--max-old-space-size=96'],
  });
  [url] = await once(child, 'message');
});
afterAll(async () => {
  if (child.kill()) await once(child, 'exit');
});

const heap = async (): Promise<number> => {
  child.send('heap');
  return (await once(child, 'message'))[0];
};

const honest = async (round: number): Promise<number> => {
  const correlationValue = VISITORS[round % VISITORS.length];
  const batch = Array.from({ length: 5 }, (_, n) => event(`e${n}`, { correlationValue }));
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url + BATCH, { method: 'POST', body: JSON.stringify({ batch }), headers });
  await response.arrayBuffer();
  return response.status;
};

const open = async (length: number): Promise<Socket> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  // The relay may end the connection first.
  socket.on('error', () => {}).resume();
  await once(socket, 'connect');
  const head = `POST ${BATCH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(`${head}{"batch":[`);
  return socket;
};

it('a relay with 96 MB survives honest, hostile, slow and aborted connections, and its heap does not grow', async () => {
  const hostile = fc.sample(rawRequest, { numRuns: 500, seed: 1 });
  const slow: Socket[] = [];
  const statuses = new Map<number, number>();
  let third = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const attack = exchange(Number(new URL(url).port), hostile[round % hostile.length] as (typeof hostile)[number]);
    const aborted = await open(5000);
    slow.push(await open(100_000));
    if (slow.length > SLOW) slow.shift()?.destroy();
    for (const socket of slow) socket.write(' ');
    aborted.destroy();
    const answers = await Promise.all(Array.from({ length: HONEST }, (_, n) => honest(round + n)));
    for (const status of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await attack;
    if (round === ROUNDS / 3) third = await heap();
  }
  for (const socket of slow) socket.destroy();
  expect([...statuses]).toEqual([[201, ROUNDS * HONEST]]);
  const last = await heap();
  expect(last, `${third} after a third`).toBeLessThan(1.5 * third);
  expect(child.exitCode ?? child.signalCode).toBeNull();
}, 600_000);
