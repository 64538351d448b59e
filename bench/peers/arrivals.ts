import { EVENTS, WAYS } from './durability.ts';
import { numberText, type Row } from './report.ts';

const LINE = 30;
const LABELS = 170;
const BARS = 400;
const WIDTH = LABELS + BARS + 76;
const TOP = 40;

/** Events of a row that arrived after all departures, and how many were tracked. A failed departure counts in neither number. */
export const arrivalsOf = ({ survivals }: Row): { arrived: number; tracked: number } => {
  const played = WAYS.flatMap((way) => survivals[way] ?? []);
  return { arrived: played.reduce((sum, one) => sum + one.arrived, 0), tracked: played.length * EVENTS };
};

/** The days on which the departures were played. */
export const daysOf = (rows: readonly Row[]): string[] => [...new Set(rows.map(({ playedOn }) => playedOn))].sort();

/** The floors are no libraries, and only show the least that sending events can cost. */
const isLibrary = ({ subject }: Row): boolean => !subject.name.endsWith('floor');

const bar = (row: Row, y: number): string => {
  const { arrived, tracked } = arrivalsOf(row);
  const width = (BARS * arrived) / Math.max(tracked, 1);
  const isOurs = row.subject.name.startsWith('clew');
  return (
    `<text x="${LABELS - 10}" y="${y + 20}" text-anchor="end">${row.subject.name}</text>` +
    `<rect class="all" x="${LABELS}" y="${y + 4}" width="${BARS}" height="${LINE - 8}" rx="3"/>` +
    `<rect class="${isOurs ? 'clew' : 'peer'}" x="${LABELS}" y="${y + 4}" width="${width.toFixed(1)}" height="${LINE - 8}" rx="3"/>` +
    `<text x="${LABELS + BARS + 10}" y="${y + 20}">${numberText(arrived, 0)}</text>`
  );
};

/** Bars of how many events arrive, in the colours of the demo. The background is the page's, in light and dark mode. */
export const arrivalsChart = (rows: readonly Row[], caption: string): string => {
  const libraries = rows.filter(isLibrary);
  const bottom = TOP + libraries.length * LINE;
  const bars = libraries.map((row, line) => bar(row, TOP + line * LINE)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 36}" width="480" font-family="system-ui, sans-serif" font-size="18">
<title>Events that arrive, of ${numberText(WAYS.length * EVENTS, 0)}</title>
<style>
text { fill: #211e1b } .note { fill: #6a635b } .all { fill: #e2ddd4 } .peer { fill: #8f877c } .clew { fill: #b3274a }
@media (prefers-color-scheme: dark) {
text { fill: #efeae4 } .note { fill: #a79e94 } .all { fill: #37322d } .peer { fill: #7c7369 } .clew { fill: #ff8ba4 }
}
</style>
<text x="${LABELS}" y="24" font-weight="bold">events that arrive, of ${numberText(WAYS.length * EVENTS, 0)}</text>
${bars}
<text class="note" x="${WIDTH - 10}" y="${bottom + 26}" font-size="16" text-anchor="end">${caption}</text>
</svg>
`;
};
