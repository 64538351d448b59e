// @ts-check
import { html, svg } from 'lit-html';

/**
 * Waiting and arrived events over time.
 *
 * @typedef {import('./outage.js').Outage} Outage
 * @typedef {import('./outage.js').Sample} Sample
 */

const WIDTH = 400;
const HEIGHT = 100;
/** The shortest time (ms) and the smallest number that the axes span. */
const LEAST_SPAN = 16_000;
const LEAST_COUNT = 10;

/** @param {Outage} outage */
const axes = ({ tracked, samples }) => {
  const span = Math.max(LEAST_SPAN, samples.at(-1)?.at ?? 0);
  const most = Math.max(LEAST_COUNT, tracked.size) * 1.08;
  const x = (/** @type {number} */ at) => (at / span) * WIDTH;
  const y = (/** @type {number} */ count) => HEIGHT - (count / most) * HEIGHT;
  return { x, y };
};

/** @param {Outage} outage */
const lines = (outage) => {
  const { samples, startedAt, backAt } = outage;
  const { x, y } = axes(outage);
  const last = samples.at(-1)?.at ?? 0;
  const points = (/** @type {(sample: Sample) => number} */ value) =>
    samples.map((sample) => `${x(sample.at).toFixed(1)},${y(value(sample)).toFixed(1)}`).join(' ');
  return svg`
    <rect class="band" width=${x(backAt ? backAt - startedAt : last)} height=${HEIGHT}></rect>
    <polygon class="waiting" points="0,${HEIGHT} ${points(({ waiting }) => waiting)} ${x(last)},${HEIGHT}"></polygon>
    <polyline class="arrived" points=${points(({ arrived }) => arrived)}></polyline>
  `;
};

/** @param {Outage | undefined} outage */
export const chart = (outage) => html`
  <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="Waiting and arrived events over time">
    ${outage?.samples.length ? lines(outage) : ''}
  </svg>
  <p>${outage ? 'service fails' : 'Waiting events grow here, then drain.'}</p>
`;
