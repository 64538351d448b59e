/** `npm run bench:relay`: what the relay costs beside a bare proxy, and whether it holds under load. */

import { type HonestRun, sendDuringFlood } from './honest.ts';
import { CORE, type Measured, measureInTurns, OTHER_CORE, openServer, type Row } from './measure.ts';
import { type MemoryRun, watchMemory } from './memory.ts';
import { canPin, stopProcesses } from './processes.ts';

/** How long (s) the relay's memory is watched. Each of the other measurements takes a 24th of that, and at least 1 s. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 60);
const TURNS = { rounds: 5, connections: 50, seconds: Math.max(1, SECONDS / 24) };
const MOST_CONNECTIONS = 200;
/** Requests of a flood, and the longest p99 of honest visitors beside it, in ms. */
const FLOOD = Math.round(100_000 * Math.min(1, SECONDS / 60));
const MOST_HONEST = 200;
/** The least throughput of the relay, as a share of the bare proxy's. */
const BUDGET = 0.7;

const medianOf = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const spread = (values: number[], digits = 0): string => {
  const [median, least, most] = [medianOf(values), Math.min(...values), Math.max(...values)];
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
};

const ratios = (row: Measured[], of: Measured[]): number[] => row.map(({ rate }, n) => rate / (of[n]?.rate ?? 0));
/** The same by processor time. The two differ if a server has not used its core in full, because the load or the machine had no room. */
const ratiosOfCost = (row: Measured[], of: Measured[]): number[] => row.map(({ cost }, n) => (of[n]?.cost ?? 0) / cost);

const printRates = (measured: Map<Row, Measured[]>): void => {
  console.log(
    `\n| 20 events a batch, ${TURNS.connections} connections, ${TURNS.rounds} rounds of ${TURNS.seconds} s: median (least–most) ` +
      '| batches/s | of it | p50, ms | p99, ms | processor, µs a batch | busy, % of a core |\n|---|---|---|---|---|---|---|',
  );
  for (const [row, all] of measured) {
    const of = row.of && measured.get(row.of);
    const columns = [
      row.name,
      spread(all.map(({ rate }) => rate)),
      of ? `${spread(ratios(all, of), 2)} of ${row.of?.name}` : '',
      spread(all.map(({ p50 }) => p50, 1)),
      spread(all.map(({ p99 }) => p99, 1)),
      spread(all.map(({ cost }) => cost)),
      spread(all.map(({ busy }) => 100 * busy)),
    ];
    console.log(`| ${columns.join(' | ')} |`);
  }
};

const printMemory = ({ start, samples, result }: MemoryRun): void => {
  console.log(
    `\n| the relay's memory, ${MOST_CONNECTIONS} connections for ${SECONDS} s, MiB ` +
      '| at start | after 10 s | at the end | most |\n|---|---|---|---|---|',
  );
  for (const field of ['rss', 'heapUsed'] as const) {
    const values = samples.map((sample) => sample[field]);
    const shown = [start[field], values[9], values.at(-1), Math.max(...values)];
    console.log(
      `| ${field} | ${shown.map((bytes) => (bytes === undefined ? '–' : (bytes / 2 ** 20).toFixed(0))).join(' | ')} |`,
    );
  }
  const { requests, seconds, p50, p99 } = result;
  console.log(
    `\n${requests} batches in it, ${(requests / seconds).toFixed()} a second, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms.`,
  );
};

/** The sink that is measured alone has the core to itself. The sink behind the proxies is another process. */
const openRows = async (): Promise<Row[]> => {
  const behind = await openServer('sink', OTHER_CORE);
  const service = await openServer('collector', OTHER_CORE);
  const relay = await openServer('relay', CORE, behind.url);
  const bareServer = await openServer('bare', CORE, behind.url);
  const bare: Row = { name: 'the bare proxy', server: bareServer, kind: 'plain' };
  const bareHttp = { server: await openServer('bare-http', CORE, behind.url), kind: 'plain' as const, of: bare };
  const bareGzip: Row = { name: 'the bare proxy, gzip', server: bareServer, kind: 'gzip' };
  const alone: Row = { name: 'the collector alone', server: service, kind: 'plain', isDirect: true };
  return [
    bare,
    { name: 'the relay', server: relay, kind: 'plain', of: bare },
    { name: 'a bare proxy that sends by node:http', ...bareHttp },
    { name: 'the destination alone', server: await openServer('sink', CORE), kind: 'plain', isDirect: true, of: bare },
    bareGzip,
    { name: 'the relay, gzip', server: relay, kind: 'gzip', of: bareGzip },
    {
      name: 'the relay, signed identity',
      server: await openServer('signed', CORE, behind.url),
      kind: 'signed',
      of: bare,
    },
    alone,
    {
      name: 'the relay before the collector',
      server: await openServer('relay', CORE, service.url),
      kind: 'plain',
      of: alone,
    },
  ];
};

const printFlood = ({ flood, latencies, failures }: HonestRun): void => {
  const at = (share: number) => (latencies[Math.floor(latencies.length * share)] ?? Number.NaN).toFixed(1);
  console.log(
    `\nA flood of ${FLOOD} requests from one address in ${flood.seconds.toFixed(1)} s: ${flood.taken} taken, ${flood.refused} refused, ${flood.errors} errors. ` +
      `Beside it ${latencies.length} events of honest visitors: ${failures} failed, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (budget: below ${MOST_HONEST} ms).`,
  );
  if (failures || flood.errors || !(Number(at(0.99)) < MOST_HONEST)) process.exitCode = 1;
};

const judge = (measured: Map<Row, Measured[]>, memory: MemoryRun): void => {
  const named = [
    ...[...measured].map(([{ name }, all]) => [name, all] as const),
    ['the memory', [memory.result]] as const,
  ];
  const failures = named.flatMap(([name, all]) =>
    all.flatMap(({ failures }) => Object.entries(failures).map(([what, times]) => `${name}: ${what} × ${times}`)),
  );
  console.log(`\nErrors, and answers other than 201, in all of it: ${failures.join(', ') || 'none'} (expected: none).`);
  if (failures[0]) process.exitCode = 1;
  for (const [row, all] of measured) {
    const of = row.name === 'the relay' && row.of && measured.get(row.of);
    if (!of) continue;
    const ratio = medianOf(ratios(all, of));
    console.log(
      `The relay's throughput is ${spread(ratios(all, of), 2)} of the bare proxy's (budget: at least ${BUDGET}), ` +
        `and ${spread(ratiosOfCost(all, of), 2)} of it by processor time.`,
    );
    if (!(ratio >= BUDGET)) process.exitCode = 1;
  }
};

console.log(
  canPin
    ? `Each process on one core: what is measured on core ${CORE}, what is behind it (the collector, too) and the load on core ${OTHER_CORE}.`
    : 'Without taskset or a second core: no process is held to a core, and the figures say less.',
);
const rows = await openRows();
const measured = await measureInTurns(rows, TURNS);
printRates(measured);
// The relay is new, so its memory has no ids of earlier measurements.
const behind = await openServer('sink', OTHER_CORE);
const watched = await openServer('relay', CORE, behind.url);
const memory = await watchMemory(watched, { kind: 'plain', connections: MOST_CONNECTIONS, seconds: SECONDS });
printMemory(memory);
judge(measured, memory);
const limited = await openServer('limited', CORE, behind.url);
printFlood(await sendDuringFlood(limited, FLOOD));
await stopProcesses();
