import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { ListedCustomer, ListedEvent } from '../../demo/collector/listings.ts';
import { createVisitor, KEY } from './running.ts';

const SENDERS = 8;
const EVENTS = 15;
const running = new Set<ChildProcess>();

const start = async (dir: string) => {
  const child = fork(join(import.meta.dirname, 'served.ts'), [dir], { execArgv: ['--import', 'tsx'] });
  running.add(child);
  const [url] = await once(child, 'message');
  return { child, url: url as string };
};
const kill = async (child: ChildProcess) => {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  running.delete(child);
};
const post = async (url: string, path: string, body: object): Promise<boolean> => {
  const headers = { authorization: `Api-Key ${KEY}`, 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.status === 201;
};
const list = async <T>(url: string, what: string): Promise<T[]> =>
  ((await (await fetch(`${url}/inspect/${what}`)).json()) as Record<string, T[]>)[what] ?? [];

/** Sends batches and customers until the collector is gone, and notes those that it has confirmed. */
const sendUntilGone = async (url: string, answered: Set<string>, note: () => void) => {
  const visitor = createVisitor();
  for (;;) {
    const name = randomUUID();
    const events = Array.from({ length: EVENTS }, () => visitor.event(name));
    try {
      if (!(await post(url, '/api/events/batch/', { batch: [visitor.identify(name), ...events] }))) return;
      answered.add(name);
      note();
      if (await post(url, '/api/customers/upsert', { primary_key: `up-${name}` })) answered.add(`up-${name}`);
    } catch {
      return;
    }
  }
};

/** Plays rounds of batches with a kill in the middle and a restart. Each round checks the data of all rounds so far. */
export const playKills = async (rounds: number): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), 'clew-killed-'));
  onTestFinished(async () => {
    for (const child of running) await kill(child);
    await rm(dir, { recursive: true, force: true });
  });
  const answered = new Set<string>();
  let { child, url } = await start(join(dir, 'data'));
  for (let round = 1; round <= rounds; round++) {
    const answers = new EventEmitter();
    const senders = Array.from({ length: SENDERS }, () => sendUntilGone(url, answered, () => answers.emit('batch')));
    for (let noted = 0; noted < 10 + round; noted++) await once(answers, 'batch');
    await kill(child);
    await Promise.all(senders);
    ({ child, url } = await start(join(dir, 'data')));

    const events = await list<ListedEvent>(url, 'events');
    const counts = new Map<string, number>();
    for (const { event } of events) if (event !== '$identify') counts.set(event, (counts.get(event) ?? 0) + 1);
    const keys = new Set((await list<ListedCustomer>(url, 'customers')).map(({ primaryKey }) => primaryKey));
    expect([...counts].filter(([, count]) => count !== EVENTS)).toEqual([]);
    expect([...answered].filter((name) => !counts.has(name) && !keys.has(name))).toEqual([]);
    for (const name of counts.keys()) expect(keys.has(name), `the customer of batch ${name}`).toBe(true);
    expect(answered.size).toBeGreaterThanOrEqual(round * 10);
  }
  await kill(child);
};
