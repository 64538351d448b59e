// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { drawWhenChanged } from './cell.js';
import { byId, onClick, onSubmit } from './dom.js';
import { leaveWith } from './leave.js';
import { call, calls, callTimes } from './tracker.js';

/** The calls that the page makes, as code, and buttons for those that a shop has no button for. */

/** As one would write it: single quotes, names without any. @param {unknown} value @returns {string} */
const code = (value) => {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, field]) => `${name}: ${code(field)}`);
  return `{ ${fields.join(', ')} }`;
};

/** @param {import('./tracker.js').Call} call */
const line = ({ method, args, times }) => html`
  <li>
    <code>clew(${[method, ...args].map(code).join(', ')})</code>
    ${times > 1 ? html`<b>× ${times}</b>` : ''}
  </li>
`;

/** How many fit beside the shop. */
const MOST_SHOWN = 3;

export const showCalls = () => {
  onClick('many', () => callTimes(200, 'track', (index) => ['sheep_counted', { number: index + 1 }]));
  onClick('flush', () => call('flush'));
  onClick('reset', () => call('reset'));
  onClick('leave', () =>
    leaveWith(Array.from({ length: 10 }, () => ['last_words', { at: Math.round(performance.now()) }])),
  );
  // JSON knows no bigint: the event is dropped, and said to be.
  onClick('broken', () => call('track', 'wool_weighed', { grams: 100n }));
  onSubmit('identify', ({ primaryKey }) => call('identify', primaryKey));
  drawWhenChanged([calls], () => {
    const shown = calls.get().slice(0, MOST_SHOWN);
    render(
      repeat(shown, (each) => each, line),
      byId('calls'),
    );
  });
};
