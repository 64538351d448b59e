import { EVENTS, type Survival, WAYS } from './durability.ts';
import type { Measured } from './measure.ts';
import { medianOf } from './median.ts';
import { type Subject, subjects } from './subjects.ts';

/** A subject and what was measured of it, run by run. */
export interface Row {
  readonly subject: Subject;
  readonly version: string;
  readonly size: number;
  readonly runs: readonly Partial<Measured>[];
  /** By the name of the departure. A departure that was not played is missing. */
  readonly survivals: Readonly<Record<string, Survival>>;
  /** The day on which the departures were played, in ISO 8601. */
  readonly playedOn: string;
}

/** All measurements of one `npm run bench:peers`, the only source of the files that it writes. */
export interface Results {
  /** The day on which the times were measured, in ISO 8601. */
  readonly date: string;
  /** Version of Chromium. */
  readonly browser: string;
  readonly machine: string;
  readonly runs: number;
  /** Pages in which each start was measured. */
  readonly starts: number;
  /** The machine's load before and after the run, which shows how much other work could disturb it. */
  readonly load: readonly [before: number, after: number];
  readonly rows: readonly Row[];
  readonly failures: readonly string[];
}

/** One figure of a row, for the tables and the chart. */
export interface Figure {
  readonly title: string;
  readonly of: (row: Row) => number[];
  readonly digits: number;
}

const each = (name: keyof Measured) => (row: Row) => row.runs.flatMap((run) => run[name] ?? []);

export const figures: Record<string, Figure> = {
  size: { title: 'script, bytes (brotli)', of: ({ size }) => [size], digits: 0 },
  start: { title: 'start-up, ms of CPU', of: each('start'), digits: 1 },
  slowStart: { title: 'start-up, 4 × slower, ms of CPU', of: each('slowStart'), digits: 1 },
  call: { title: 'µs per call, burst of 1,000', of: each('call'), digits: 1 },
  largeCall: { title: 'µs per call, burst of 10,000', of: each('largeCall'), digits: 1 },
  longTasks: { title: 'long tasks, 4 × slower', of: each('longTasks'), digits: 0 },
  longTime: { title: 'ms in long tasks, 4 × slower', of: each('longTime'), digits: 0 },
  delivery: { title: 'ms of CPU until 1,000 are sent', of: each('delivery'), digits: 0 },
  requests: { title: 'requests for 1,000 calls', of: each('requests'), digits: 0 },
  bytes: { title: 'bytes uploaded for 1,000 calls', of: each('bytes'), digits: 0 },
  arrived: { title: 'of 1,000 arrived', of: each('arrived'), digits: 0 },
  first: { title: 'ms until a first event arrives', of: each('first'), digits: 0 },
  heap: { title: 'heap, bytes an event, offline', of: each('heap'), digits: 0 },
  twice: { title: 'arrived twice', of: each('twice'), digits: 0 },
};

const TABLES = [
  ['size', 'start', 'slowStart', 'call', 'largeCall', 'heap'],
  ['longTasks', 'longTime', 'first', 'delivery', 'requests', 'bytes', 'arrived', 'twice'],
];
/** Figures whose ratio to the floor has no meaning. */
const WITHOUT_RATIO = ['longTasks', 'longTime', 'arrived', 'twice'];

export const numberText = (value: number, digits: number): string =>
  value.toLocaleString('en', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    // Not -0.0.
    signDisplay: 'negative',
  });

const cell = (name: string, row: Row, floor: Row): string => {
  const figure = figures[name];
  const values = figure?.of(row) ?? [];
  if (!figure || !values.length) return 'failed';
  const shown = (value: number) => numberText(value, figure.digits);
  const [median, least, most] = [medianOf(values), Math.min(...values), Math.max(...values)];
  const spread = least === most ? '' : ` (${shown(least)}–${shown(most)})`;
  const base = figure.of(floor);
  // Noise can make the floor's figure 0 or less, and such a figure is no divisor.
  const isBase = !WITHOUT_RATIO.includes(name) && Math.min(...base) > 0;
  const ratio = isBase ? ` · ${numberText(median / medianOf(base), 1)} ×` : '';
  return shown(median) + spread + ratio;
};

/** Names the runs in a sentence. One run has no median. */
export const measuredIn = (runs: number): string => (runs === 1 ? 'One run' : `Medians of ${runs} runs`);

/** A table with its columns aligned, as the formatter aligns them. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill: string) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
  return [line(head, ' '), line([], '-'), ...rows.map((cells) => line(cells, ' '))].join('\n');
};

const survived = ({ survivals }: Row, way: string): string => {
  const survival = survivals[way];
  if (!survival) return 'failed';
  return `${survival.arrived}${survival.twice ? ` (${survival.twice} twice)` : ''}`;
};

/** How many of a task's events arrive, and how many of them more than once, for each departure. */
export const durability = (rows: readonly Row[]): string =>
  table(
    [`of ${EVENTS} events`, ...WAYS],
    rows.map((row) => [row.subject.name, ...WAYS.map((way) => survived(row, way))]),
  );

/** The subjects whose burst of 10,000 was cut. */
const cuts = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ subject, runs }) => {
    const least = Math.min(...runs.map(({ called }) => called ?? Number.POSITIVE_INFINITY));
    return least < 10_000 ? `${subject.name} after ${numberText(least, 0)}` : [];
  });

/** The tables, as Markdown. */
export const markdown = ({ rows, runs, starts, failures }: Results, facts: readonly string[]): string => {
  const [floor] = rows;
  if (!floor) return '';
  const tables = TABLES.map((names) =>
    table(
      ['library', ...names.map((name) => figures[name]?.title ?? '')],
      rows.map((row) => [row.subject.name, ...names.map((name) => cell(name, row, floor))]),
    ),
  );
  const cut = cuts(rows).join(', ');
  const departures = subjects.flatMap(({ name, departures = [] }) => departures.map((one) => [name, ...one]));
  const packages = rows.flatMap(({ subject, version }) => (version ? [[subject.name, version]] : []));
  return [
    '# clew beside its peers',
    facts.map((fact) => `- ${fact}`).join('\n'),
    `Each figure is ${runs === 1 ? 'that of one run' : 'a median, with the least and the most of all runs'}, and a ratio (×) to the bare floor. ` +
      'The bare floor is an array and keep-alive fetches. The durable floor also keeps one record for each task in IndexedDB. ' +
      'Start-up is the main-thread CPU time of evaluating and initialising in the first second, ' +
      `the least of ${starts} pages, minus that of an empty script. ` +
      'Calls and long tasks are timed by the clock, start-up and sending by the CPU time of the main thread. ' +
      'Uploaded bytes count bodies and queries, without headers. A library of which fewer than 1,000 events arrive has worked for those only. ' +
      'The browser does not identify itself as a robot, because some libraries do not track robots.',
    ...tables,
    `The table below shows how many of ${EVENTS} events, tracked in one task, arrive within 45 s of a departure. Each departure is played once. ` +
      'The page is left for one with the same script. It is closed for good. It is closed offline and opened online. ' +
      'The first three uploads are answered 500. Its renderer crashes. The browser is killed, online or offline, and opened again. ' +
      '`twice` counts events that came more than once. Every service here drops duplicates by their ids, so duplicates cost only bytes.',
    durability(rows),
    ...(cut ? [`A burst is cut after 10 s: ${cut}.`] : []),
    ...(failures.length ? [failures.map((failure) => `- ${failure}`).join('\n')] : []),
    '![chart](peers.svg)',
    '## Departures from defaults',
    'Peers that batch by default keep their sizes and waits. clew also keeps its own.',
    table(['library', 'option', 'why'], departures),
    '## Versions',
    table(['library', 'package'], packages),
  ]
    .join('\n\n')
    .concat('\n');
};
