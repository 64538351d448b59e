import { type BatchKind, KEY } from './batches.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { startProcess } from './processes.ts';
import type { Role, Usage } from './server.ts';

/** The measured server has this core to itself. Its destination and the load share the other core. */
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

export interface Turns {
  rounds: number;
  connections: number;
  seconds: number;
}

/** Measures the rows in turns, so that the machine's other work affects all of them alike. */
export const measureInTurns = async (rows: Row[], { rounds, connections, seconds }: Turns) => {
  const measured = new Map(rows.map((row) => [row, [] as Measured[]]));
  // The first measurement of each row does not count, because Node compiles code when it first runs.
  for (const row of rows) await measure(row, connections, 1);
  for (let round = 0; round < rounds; round++) {
    for (const row of rows) measured.get(row)?.push(await measure(row, connections, seconds));
  }
  return measured;
};
