import uPlot from 'uplot';
import { type Second, WINDOW } from './rate.js';

/** The chart of events per second (bars) and the queue's length (a line), each with a scale of its own. */
export interface Chart {
  draw(seconds: readonly Second[], now: number): void;
  destroy(): void;
}

/** The parts' colours, as a canvas takes them. */
export type Colours = Readonly<Record<'tracked' | 'queued' | 'line', string>>;

const HEIGHT = 96;

/** Whole numbers only, and never an empty scale. */
const range = (_plot: uPlot, _least: number, most: number): [number, number] => [0, Math.max(most, 4) * 1.1];
const isWhole = (_plot: uPlot, splits: number[]) => splits.map((value) => (value % 1 ? null : value));

const labelOf = (value: number | null): string => {
  if (value === null) return '';
  return value < 1000 ? `${value}` : `${value / 1000}k`;
};

/** uPlot's types let a path builder be missing. */
const pathsOf = (paths: uPlot.Series.PathBuilder | undefined) => paths && { paths };

/** @param colourOf asked at each drawing, since the scheme may change */
export const createChart = (host: HTMLElement, colourOf: (part: keyof Colours) => string): Chart => {
  const axis = (scale: 'tracked' | 'queued', side: number): uPlot.Axis => ({
    scale,
    side,
    size: 34,
    gap: 4,
    font: '11px system-ui, sans-serif',
    stroke: () => colourOf(scale),
    filter: isWhole,
    values: (_plot, splits) => splits.map(labelOf),
    incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000],
    space: 26,
    ticks: { show: false },
    grid: side === 3 ? { stroke: () => colourOf('line'), width: 1 } : { show: false },
  });
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT,
      padding: [6, 0, 7, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, tracked: { range }, queued: { range } },
      axes: [{ show: false }, axis('tracked', 3), axis('queued', 1)],
      series: [
        {},
        {
          scale: 'tracked',
          stroke: () => colourOf('tracked'),
          fill: () => colourOf('tracked'),
          ...pathsOf(uPlot.paths.bars?.({ size: [0.7, 8] })),
          points: { show: false },
        },
        {
          scale: 'queued',
          stroke: () => colourOf('queued'),
          width: 2,
          ...pathsOf(uPlot.paths.stepped?.({ align: 1 })),
          points: { show: false },
        },
      ],
    },
    [[], [], []],
    host,
  );
  const sizes = new ResizeObserver(([entry]) => {
    if (entry?.contentRect.width) plot.setSize({ width: entry.contentRect.width, height: HEIGHT });
  });
  sizes.observe(host);
  return {
    draw(seconds, now) {
      const end = Math.floor(now / 1000);
      const of = new Map(seconds.map((second) => [second.at, second]));
      const ats = Array.from({ length: WINDOW }, (_, index) => end - WINDOW + 1 + index);
      plot.setData([ats, ats.map((at) => of.get(at)?.tracked || null), ats.map((at) => of.get(at)?.queued ?? 0)]);
    },
    destroy() {
      sizes.disconnect();
      plot.destroy();
    },
  };
};
