import { arrivalsOf, daysOf } from './arrivals.ts';
import { EVENTS, WAYS } from './durability.ts';
import { BURST } from './measure.ts';
import { medianOf } from './median.ts';
import { figures, measuredIn, numberText, type Results, type Row, table } from './report.ts';

const SHOWN = ['size', 'slowStart', 'call', 'delivery', 'bytes'];

const arrivals = (row: Row): string => {
  const { arrived, tracked } = arrivalsOf(row);
  return `${numberText(arrived, 0)} of ${numberText(tracked, 0)}`;
};

const median = (row: Row, name: string): string => {
  const figure = figures[name];
  const values = figure?.of(row) ?? [];
  return values.length ? numberText(medianOf(values), figure?.digits ?? 0) : 'failed';
};

const nameOf = ({ subject, version }: Row): string =>
  version ? `${subject.name} ${version.split(' ').at(-1)}` : subject.name;

/** A library of which fewer arrive has also sent less. */
const incomplete = (rows: readonly Row[]): string => {
  const less = rows.filter((row) => medianOf(figures.arrived?.of(row) ?? []) < BURST);
  const all = `${numberText(BURST, 0)} events that are sent`;
  if (!less.length) return `Of the ${all}, every library delivers all.`;
  const names = less.map((row) => `${median(row, 'arrived')} of ${row.subject.name}`).join(', ');
  return `Fewer of the ${all} arrive for some libraries: ${names}.`;
};

/** When the arrivals were measured: after a run for clew only, those of the others are older. */
const played = (rows: readonly Row[]): string => {
  const namesOn = (day: string) => rows.flatMap(({ subject, playedOn }) => (playedOn === day ? subject.name : []));
  return `Arrivals: ${daysOf(rows)
    .map((day) => `${day} (${namesOn(day).join(', ')})`)
    .join(', ')}.`;
};

/** The part of the page about benchmarks that `npm run bench:peers` writes. */
export const summary = ({ date, browser, machine, runs, rows }: Results): string =>
  [
    table(
      ['library', ...SHOWN.map((name) => figures[name]?.title ?? ''), `arrived, of ${WAYS.length} × ${EVENTS}`],
      rows.map((row) => [nameOf(row), ...SHOWN.map((name) => median(row, name)), arrivals(row)]),
    ),
    `${measuredIn(runs)}, ${date}, Chromium ${browser}, ${machine}. ${incomplete(rows)} ${played(rows)}`,
    '![The columns as bars, without the last one](../bench/results/peers.svg)',
  ].join('\n\n');
