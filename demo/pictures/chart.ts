import { type Change, type Run, totalsOf } from './run.ts';

const LEFT = 52;
const TOP = 312;
const WIDE = 524;
const HIGH = 152;
/** Room above the highest value. */
const SKY = 12;
const TICKS = 5;

const rounded = (value: number): number => Math.round(value * 10) / 10;

/** Draws the tracked and the stored events over the time of the run. A cover hides the time that is still to come. */
export const drawChart = (run: Run, refusals: readonly number[]): { style: string; body: string } => {
  const { length, outage, stored } = run;
  const { tracked, mostQueued, peak } = totalsOf(run);
  const x = (at: number) => rounded((at / length) * WIDE);
  const y = (value: number) => rounded(HIGH - (value / tracked) * (HIGH - SKY));
  const steps = (changes: readonly Change[]) =>
    `${changes.map(({ at, value }, index) => `${index ? `H${x(at)}V` : `M${x(at)} `}${y(value)}`).join('')}H${WIDE - 2}`;
  const counted = run.events.map(({ tracked: at }, index) => ({ at, value: index + 1 }));
  const zero = { at: 0, value: 0 };
  const trackedSteps = steps([zero, ...counted]);
  const back = [...stored].reverse().map(({ at, value }) => `V${y(value)}H${x(at)}`);
  const crosses = refusals.map((at) => `M${x(at) - 4} ${y(storedAt(stored, at)) - 4}l8 8m0 -8l-8 8`);
  const times = Array.from({ length: length / TICKS + 1 }, (_, index) => index * TICKS);

  return {
    style: `@keyframes sweep{0%{transform:none}}.sweep{animation:sweep linear;transform:translateX(${WIDE + 2}px)}`,
    body: `<svg aria-hidden="true" x="${LEFT}" y="${TOP}" width="${WIDE}" height="${HIGH}">
<rect class="outage" x="${x(outage.from)}" width="${x(outage.to) - x(outage.from)}" height="${HIGH}"/>
<path class="grid" d="M0 ${y(tracked)}H${WIDE - 2}M0 ${y(tracked / 2)}H${WIDE - 2}"/>
<path class="waiting" d="${trackedSteps}${back.join('')}Z"/>
<path class="tracked" d="${trackedSteps}"/>
<path class="stored" d="${steps([zero, ...stored])}"/>
<path class="cross" d="${crosses.join('')}"/>
<text class="bad-text" x="${x(outage.from) + 8}" y="24">answers 500</text>
<text class="peak" x="${x(peak) - 16}" y="${y(mostQueued / 2) - 8}">${mostQueued} waiting</text>
<g class="sweep"><rect class="cover" y="-2" width="${WIDE + 2}" height="${HIGH + 4}"/><path class="now" d="M0 0V${HIGH}"/></g>
</svg>
<path class="wire" style="stroke-width:1" d="M${LEFT} ${TOP + HIGH}h${WIDE}"/>
<text class="end" x="${LEFT - 8}" y="${TOP + SKY + 6}">${tracked}</text><text class="end" x="${LEFT - 8}" y="${TOP + HIGH}">0</text>
${times.map((at) => `<text class="${at === length ? 'end' : at ? 'mid' : ''}" x="${LEFT + x(at)}" y="${TOP + HIGH + 24}">${at} s</text>`).join('')}
<g transform="translate(${LEFT} ${TOP - 18})"><path class="tracked" d="M0 0h26"/><text x="34" y="6">tracked</text><path class="stored" d="M128 0h26"/><text x="162" y="6">stored</text></g>`,
  };
};

const storedAt = (stored: readonly Change[], at: number): number =>
  stored.findLast((change) => change.at <= at)?.value ?? 0;
