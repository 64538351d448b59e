import { type BatchKind, KEY } from './batches.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { startProcess } from './processes.ts';
import type { Role, Usage } from './server.ts';

/** The measured server has this core to itself. The server's destination and the load share the other core. */
export const CORE = 0;
export const OTHER_CORE = 1;

export const openServer = async (role: Role, core: number, destination = '') => {
  const child = startProcess('server.ts', [role, destination], core);
  const usage = () => child.ask<Usage>({});
  return { url: (await usage()).url, usage };
};
export type OpenServer = Awaited<ReturnType<typeof openServer>>;

const generator = startProcess('load.ts', [], OTHER_CORE);
export const load = (order: LoadOrder) => generator.ask<LoadResult>(order);

export interface Row {
  name: string;
  server: OpenServer;
  kind: BatchKind;
  /** Sends the load directly to the service, with the service's key. */
  isDirect?: boolean;
  /** The row whose rate divides the rate of this row. */
  of?: Row;
}

export interface Measured {
  rate: number;
  p50: number;
  p99: number;
  /** Processor time for each request, in µs. */
  cost: number;
  /** How much of one core the server used. */
  busy: number;
  failures: LoadResult['failures'];
}

const measure = async ({ server, kind, isDirect }: Row, connections: number, seconds: number): Promise<Measured> => {
  const before = await server.usage();
  const result = await load({ url: server.url, kind, connections, seconds, ...(isDirect && { key: KEY }) });
  const spent = (await server.usage()).cpu - before.cpu;
  return {
    rate: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    cost: spent / result.requests,
    busy: spent / (result.seconds * 1e6),
    failures: result.failures,
  };
};

/**
 * So many requests to each row do not count, or those of so many seconds. Node compiles code while it runs, so its first thousands cost
 * several times as much. A relay has more code than a bare proxy.
 */
const WARM_UP = { requests: 3000, seconds: 8 };

const warmUp = async ({ server, kind, isDirect }: Row, connections: number): Promise<void> => {
  const order = { url: server.url, kind, connections, seconds: 1, ...(isDirect && { key: KEY }) };
  let requests = 0;
  for (let second = 0; second < WARM_UP.seconds && requests < WARM_UP.requests; second++)
    requests += (await load(order)).requests;
};

export interface Turns {
  rounds: number;
  connections: number;
  seconds: number;
}

/** Measures the rows in turns, so that the machine's other work affects all of them alike. */
export const measureInTurns = async (rows: Row[], { rounds, connections, seconds }: Turns) => {
  const measured = new Map(rows.map((row) => [row, [] as Measured[]]));
  for (const row of rows) await warmUp(row, connections);
  for (let round = 0; round < rounds; round++) {
    // Every second round backwards: a machine that becomes slower favours no row.
    const turns = round % 2 ? rows.toReversed() : rows;
    for (const row of turns) measured.get(row)?.push(await measure(row, connections, seconds));
  }
  return measured;
};
