import { drawChart } from './chart.ts';
import { type Change, type Run, totalsOf } from './run.ts';

/** The fonts and colours of `docs/images/event.svg`. Amber is waiting, green is stored, and red is a refusal. */
const STYLE = `
:root { --paper: #f6f4f0; --card: #fffefc; --ink: #211e1b; --soft: #6a635b; --line: #e2ddd4; --edge: #8f877c; --hue: #b3274a; --good: #1f6f4a; --leave: #c06a0c; }
@media (prefers-color-scheme: dark) {
:root { --paper: #161412; --card: #1f1c1a; --ink: #efeae4; --soft: #a79e94; --line: #37322d; --edge: #7c7369; --hue: #ff8ba4; --good: #71d3a3; --leave: #f5b366; }
}
text { font: 18px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--soft); }
.told { font-size: 22px; font-weight: 600; fill: var(--ink); }
.count { font-size: 32px; font-weight: 600; font-variant-numeric: tabular-nums; fill: var(--ink); }
.mid { text-anchor: middle; } .end { text-anchor: end; }
.frame { fill: var(--paper); stroke: var(--line); }
.box { fill: var(--card); stroke: var(--edge); }
.slots { fill: none; stroke: var(--line); stroke-width: 12; stroke-linecap: round; }
.wire { fill: none; stroke: var(--edge); stroke-width: 2.5; }
.event { fill: var(--good); animation-timing-function: ease-in-out; }
.pill { fill: var(--good); } .pill + text { font-weight: 600; fill: var(--card); text-anchor: middle; }
.bad .pill { fill: var(--hue); }
.cross, .bad-text { stroke: var(--hue); } .cross { fill: none; stroke-width: 3; stroke-linecap: round; }
.bad-text { fill: var(--hue); stroke: none; }
.grid { fill: none; stroke: var(--line); }
.outage { fill: var(--hue); opacity: .1; }
.waiting { fill: var(--leave); opacity: .35; }
.tracked, .stored { fill: none; stroke: var(--ink); stroke-width: 2.5; stroke-linejoin: round; }
.stored { stroke: var(--good); stroke-width: 3.5; }
.peak { text-anchor: end; fill: var(--ink); }
.cover { fill: var(--paper); } .now { stroke: var(--edge); }
`;

const BOARD = { columns: 7, across: 30, down: 17 };
const PAGE = 20;
const SERVICE = 330;
const CARD = { wide: 250, top: 58, high: 204 };
const FIRST = { x: 35, y: 98 };
/** Seconds that an event takes from the page to the service. The flight ends when the service has the event. */
const FLIGHT = 0.35;
/** The least difference of two key frames in seconds. */
const MOMENT = 0.02;
/** Seconds for which a refusal stays on the wire. */
const FLASH = 0.4;
/** The height of one line of a count, which is the only line that shows. */
const COUNT_HIGH = 40;

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** A time as a percentage of the run, for key frames. */
const percentIn = ({ length }: Run) => {
  return (at: number): string => `${rounded(Math.min(Math.max(at / length, 0), 1) * 100)}%`;
};
type Percent = ReturnType<typeof percentIn>;

const slotOf = (index: number) => ({
  x: FIRST.x + (index % BOARD.columns) * BOARD.across,
  y: CARD.top + FIRST.y + Math.floor(index / BOARD.columns) * BOARD.down,
});

/** An event is absent, then at the page, and then at the service, where it stays. */
const eventFrames = ({ events }: Run, percent: Percent): string[] =>
  events.map(({ tracked, stored }, index) => {
    const atPage = `transform:translateX(${PAGE - SERVICE}px);fill:var(--leave)`;
    const appears = tracked + MOMENT;
    const leaves = Math.max(appears, stored - FLIGHT);
    const arrives = Math.max(leaves + MOMENT, stored);
    return (
      `@keyframes e${index}{0%,${percent(tracked)}{opacity:0;${atPage}}` +
      `${percent(appears)},${percent(leaves)}{opacity:1;${atPage}}${percent(arrives)}{transform:none;fill:var(--good)}}`
    );
  });

const eventDots = ({ events }: Run): string[] =>
  events.map((_, index) => {
    const { x, y } = slotOf(index);
    return `<circle class="event" style="animation-name:e${index}" cx="${SERVICE + x}" cy="${y}" r="6"/>`;
  });

const slotsFrom = (left: number, count: number): string => {
  const slots = Array.from({ length: count }, (_, index) => slotOf(index));
  return `<path class="slots" d="${slots.map(({ x, y }) => `M${left + x} ${y}h0`).join('')}"/>`;
};

/** A count is a column of its numbers behind a window of one line. Without motion it shows the last. */
const countOf = (name: string, changes: readonly Change[], x: number, percent: Percent) => {
  const numbers = [...new Set(changes.map(({ value }) => value))];
  const shift = (value: number) => `transform:translateY(${-numbers.indexOf(value) * COUNT_HIGH}px)`;
  const frames = changes.map(({ at, value }) => `${percent(at)}{${shift(value)}}`);
  const lines = numbers.map((value, line) => `<tspan x="0" y="${30 + line * COUNT_HIGH}">${value}</tspan>`);
  return {
    style: `@keyframes ${name}{0%{${shift(changes[0]?.value ?? 0)}}${frames.join('')}}.${name}{animation:${name} step-end;${shift(changes.at(-1)?.value ?? 0)}}`,
    body: `<svg aria-hidden="true" x="${x}" y="${CARD.top + 37}" width="46" height="${COUNT_HIGH}"><text class="count ${name}">${lines.join('')}</text></svg>`,
  };
};

/** Shows an element between two times. Without motion, only the element that stays to the end shows. */
const during = (name: string, from: number, to: number, { length }: Run, percent: Percent): string => {
  const isLast = to >= length;
  const frames = [
    `0%{opacity:${from > 0 ? 0 : 1}}`,
    from > 0 ? `${percent(from)}{opacity:1}` : '',
    isLast ? '' : `${percent(to)}{opacity:0}`,
  ];
  return `@keyframes ${name}{${frames.join('')}}.${name}{animation:${name} step-end;opacity:${isLast ? 1 : 0}}`;
};

/** Requests that the tracker sends in quick succession are one flash. */
export const refusalsOf = ({ answers }: Run): number[] => {
  const times = answers.filter(({ status }) => status >= 400).map(({ at }) => at);
  return times.filter((at, index) => at - (times[index - 1] ?? -1) > FLASH);
};

const refusalFrames = (run: Run, percent: Percent): string => {
  const flashes = refusalsOf(run).map((at) => `${percent(at)}{opacity:1}${percent(at + FLASH)}{opacity:0}`);
  return `@keyframes refused{0%{opacity:0}${flashes.join('')}}.refused{animation:refused step-end;opacity:0}`;
};

const pillOf = (status: number): string =>
  `<rect class="pill" x="426" y="${CARD.top + 10}" width="144" height="27" rx="13.5"/><text x="498" y="${CARD.top + 29}">answers ${status}</text>`;

/** A picture that moves for as long as the run took, and then begins again. */
export const drawOutage = (run: Run): string => {
  const { outage, length } = run;
  const { tracked, stored, peak, done } = totalsOf(run);
  const percent = percentIn(run);
  const told: [text: string, from: number, to: number][] = [
    ['The service stores what the page tracks.', 0, outage.from],
    ['The service answers 500: the queue grows.', outage.from, outage.to],
    ['The service recovers: everything arrives.', outage.to, done],
    [`${tracked} tracked, ${stored} stored, none twice.`, done, length],
  ];
  const queue = countOf('queued', run.queued, PAGE + 98, percent);
  const store = countOf('kept', run.stored, SERVICE + 88, percent);
  const chart = drawChart(run, refusalsOf(run));
  const style = [
    STYLE,
    ...eventFrames(run, percent),
    queue.style,
    store.style,
    ...told.map(([, from, to], index) => during(`t${index}`, from, to, run, percent)),
    during('bad', outage.from, outage.to, run, percent),
    during('peak', peak, length, run, percent),
    refusalFrames(run, percent),
    chart.style,
    // Without a duration nothing moves: the rules above show the end.
    '@media (prefers-reduced-motion: no-preference){',
    `.event,.queued,.kept,.t0,.t1,.t2,.t3,.bad,.peak,.refused,.sweep{animation-duration:${length}s;animation-iteration-count:infinite}`,
    '}',
  ];
  const { wide, top, high } = CARD;
  const middle = top + high / 2 + 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 504" width="460" role="img" aria-labelledby="title">
<title id="title">A service answers 500 for ${Math.round(outage.to - outage.from)} s: ${tracked} events tracked, ${stored} stored, none twice</title>
<style>${style.join('\n')}
</style>
<rect class="frame" x="2" y="2" width="596" height="500" rx="14"/>
${told.map(([text], index) => `<text class="told t${index}" x="${PAGE}" y="39">${text}</text>`).join('\n')}
<rect class="box" x="${PAGE}" y="${top}" width="${wide}" height="${high}" rx="10"/>
<rect class="box" x="${SERVICE}" y="${top}" width="${wide}" height="${high}" rx="10"/>
<text x="${PAGE + 16}" y="${top + 29}">page</text>
<text x="${SERVICE + 16}" y="${top + 29}">service</text>
${queue.body}
<text x="${PAGE + 16}" y="${top + 67}">waiting</text>
${store.body}
<text x="${SERVICE + 16}" y="${top + 67}">stored</text>
<g>${pillOf(201)}</g>
<g class="bad">${pillOf(500)}</g>
<path class="wire" d="M${PAGE + wide + 6} ${middle}H${SERVICE - 8}m-9 -7l9 7l-9 7"/>
<path class="cross refused" d="M294 ${middle - 28}l12 12m0 -12l-12 12"/>
${slotsFrom(PAGE, run.events.length)}
${slotsFrom(SERVICE, run.events.length)}
${eventDots(run).join('\n')}
${chart.body}
</svg>
`;
};
