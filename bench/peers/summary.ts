import { EVENTS, WAYS } from './durability.ts';
import { medianOf } from './median.ts';
import { figures, numberText, type Results, type Row, table } from './report.ts';

const SHOWN = ['size', 'slowStart', 'call', 'delivery', 'bytes'];

/** How many events of all ways arrived; who has not played all of them says how many they were. */
const survived = ({ survivals }: Row): string => {
  const played = WAYS.flatMap((way) => survivals[way] ?? []);
  const arrived = played.reduce((sum, one) => sum + one.arrived, 0);
  return `${numberText(arrived, 0)} of ${numberText(played.length * EVENTS, 0)}`;
};

const median = (row: Row, name: string): string => {
  const figure = figures[name];
  const values = figure?.of(row) ?? [];
  return values.length ? numberText(medianOf(values), figure?.digits ?? 0) : 'failed';
};

const nameOf = ({ subject, version }: Row): string =>
  version ? `${subject.name} ${version.split(' ').at(-1)}` : subject.name;

/** What the README shows of the results. */
export const readmeTable = ({ date, browser, machine, runs, rows }: Results): string =>
  [
    table(
      ['', ...SHOWN.map((name) => figures[name]?.title ?? ''), `arrived, of ${WAYS.length} × ${EVENTS}`],
      rows.map((row) => [nameOf(row), ...SHOWN.map((name) => median(row, name)), survived(row)]),
    ),
    `Medians, ${date}, Chromium ${browser}, ${machine}; runs in turns: ${runs}. \`npm run bench:peers\` makes them anew, and [bench/results/peers.md](bench/results/peers.md) says how: all bundled and batching alike, autocapture, flags and replay off. ` +
      'The last column: of 200 events in one task, how many arrive when the page is left, closed, crashes, or its browser is killed, offline or online, or the service answers 500.',
    '![The same as bars](bench/results/peers.svg)',
  ].join('\n\n');
