import { BURST } from './measure.ts';
import { medianOf } from './median.ts';
import { figures, numberText, type Row } from './report.ts';

const SHOWN = ['size', 'slowStart', 'call', 'longTime', 'delivery', 'bytes'];
const SENDING = ['delivery', 'bytes'];
const LINE = 18;
const LABELS = 120;
const BARS = 260;
const PANEL = { width: LABELS + BARS + 80, columns: 2, head: 30, foot: 14 };

const bar = (row: Row, name: string, most: number, y: number): string => {
  const figure = figures[name];
  const value = medianOf(figure?.of(row) ?? []);
  const isOurs = row.subject.name.startsWith('clew');
  const width = Number.isNaN(value) ? 0 : Math.max(1, (BARS * Math.max(value, 0)) / most);
  // A library that delivers fewer events has a shorter bar, so the label states how many arrived.
  const arrived = medianOf(figures.arrived?.of(row) ?? []);
  const lost = SENDING.includes(name) && arrived < BURST ? ` (${numberText(arrived, 0)} arrived)` : '';
  const shown = Number.isNaN(value) ? 'failed' : numberText(value, figure?.digits ?? 0) + lost;
  return (
    `<text x="${LABELS - 6}" y="${y + 12}" text-anchor="end">${row.subject.name}</text>` +
    `<rect x="${LABELS}" y="${y + 2}" width="${width.toFixed(1)}" height="${LINE - 5}" fill="${isOurs ? '#0b7a75' : '#9aa5b1'}"/>` +
    `<text x="${(LABELS + width + 4).toFixed(1)}" y="${y + 12}">${shown}</text>`
  );
};

/** Bars of the medians, one panel for each figure. All bars begin at 0, so that their lengths can be compared. */
export const chart = (rows: readonly Row[], caption: string): string => {
  const height = PANEL.head + rows.length * LINE + PANEL.foot;
  const panels = SHOWN.map((name, n) => {
    const figure = figures[name];
    const values = rows.map((row) => medianOf(figure?.of(row) ?? [])).filter((value) => value > 0);
    const most = Math.max(1, ...values);
    const [x, y] = [(n % PANEL.columns) * PANEL.width, Math.floor(n / PANEL.columns) * height];
    const bars = rows.map((row, line) => bar(row, name, most, PANEL.head + line * LINE)).join('\n');
    return `<g transform="translate(${x} ${y})"><text x="${LABELS}" y="20" font-weight="bold">${figure?.title}</text>\n${bars}</g>`;
  });
  const [wide, high] = [PANEL.columns * PANEL.width, Math.ceil(SHOWN.length / PANEL.columns) * height];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high + 24}" font-family="system-ui, sans-serif" font-size="12" fill="#1f2933">
<title>clew beside its peers</title>
<rect width="100%" height="100%" fill="#fff"/>
${panels.join('\n')}
<text x="10" y="${high + 14}" fill="#52606d">${caption}</text>
</svg>
`;
};
