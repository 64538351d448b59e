import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ListedCustomer, ListedEvent, ListedJourney } from '../../demo/collector/listings.ts';

/** The body of `PUT /inspect/faults`. */
export interface Fault {
  mode: 'none' | 'status' | 'slow' | 'hang' | 'close' | 'close-before';
  status?: number;
  retryAfter?: string;
  count?: number;
  delay?: number;
}

/** The demo as users start it: its own process, with its own database, on a port of its own. */
export interface Demo {
  readonly address: string;
  /** All stored events in order of arrival, or only those of this name. */
  events(name?: string): Promise<ListedEvent[]>;
  customers(): Promise<ListedCustomer[]>;
  journeys(): Promise<ListedJourney[]>;
  createJourney(journey: { name: string; event: string; filter?: object }): Promise<void>;
  fault(fault: Fault): Promise<void>;
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export const startDemo = async (): Promise<Demo> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'clew-e2e-'));
  const child = spawn(process.execPath, ['--import', 'tsx', 'demo/server.ts'], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, API_KEY: 'demo-key' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const found = /http:\/\/\S+/.exec(line);
      if (found) resolve(found[0]);
    });
    gone.then(() => reject(new Error('the demo did not start')));
  });

  const request = async (method: string, path: string, body?: object) => {
    const response = await fetch(address + path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const get = async (what: string) => (await (await request('GET', `/inspect/${what}`)).json())[what];

  return {
    address,
    events: async (name) => (await get('events')).filter(({ event }: ListedEvent) => !name || event === name),
    customers: () => get('customers'),
    journeys: () => get('journeys'),
    createJourney: async (journey) => void (await request('POST', '/inspect/journeys', journey)),
    fault: async (fault) => void (await request('PUT', '/inspect/faults', fault)),
    clear: async () => void (await request('DELETE', '/inspect/data')),
    async stop() {
      child.kill('SIGTERM');
      await gone;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
};
