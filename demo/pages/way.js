// @ts-check
import { html, render } from 'lit-html';
import { memory, requests, sent, stored } from './browser.js';
import { drawWhenChanged } from './cell.js';
import { byId, counted } from './dom.js';
import { linkState } from './link.js';
import { counts } from './service.js';

/** The stations of an event's way, with counts that move, and the account that must always balance. */

/** @typedef {{ name: string, count: number | undefined, note: unknown }} Station */

/** @returns {Station[]} */
const stations = () => {
  const { tracked, queued } = memory.get() ?? {};
  const { events, upserts } = stored.get();
  const arrived = counts.get();
  return [
    { name: 'Tracked', count: tracked, note: 'on this page' },
    { name: 'In memory', count: queued, note: 'until confirmed' },
    { name: 'Stored', count: events, note: upserts ? `and ${counted(upserts, 'upsert')}` : 'in IndexedDB' },
    { name: 'Requests', count: requests, note: linkState() },
    { name: 'Arrived', count: arrived?.events, note: arrived && `from ${counted(arrived.customers, 'customer')}` },
    { name: 'Firings', count: arrived?.firings, note: arrived && `of ${counted(arrived.journeys, 'journey')}` },
  ];
};

/** @param {Station} station */
const item = ({ name, count, note }) => html`
  <li>
    <span class="bead" aria-hidden="true"></span>
    <h3>${name}</h3>
    <data value=${count ?? ''}>${count === undefined ? '–' : count.toLocaleString('en')}</data>
    <small>${note}</small>
  </li>
`;

/** @type {(number | undefined)[]} */
let before = [];
const isCalm = matchMedia('(prefers-reduced-motion: reduce)');

/** A bead runs along the thread to each station whose count has grown. @param {HTMLElement} list */
const move = (list) => {
  const now = stations().map(({ count }) => count);
  now.forEach((count, index) => {
    const last = before[index];
    if (last === undefined || count === undefined || count === last || isCalm.matches) return;
    const station = list.children[index];
    const from = index ? '-6rem' : '0';
    station?.querySelector('data')?.animate([{ transform: 'translateY(-3px)' }, { transform: 'none' }], 250);
    if (count < last) return;
    station
      ?.querySelector('.bead')
      ?.animate([{ offset: 0, opacity: 1, translate: from }, { opacity: 1, translate: '0' }, { opacity: 0 }], 700);
  });
  before = now;
};

/** @param {import('./tracker.js').Stats} stats */
const account = ({ tracked, delivered, queued, dropped }) => {
  const reasons = Object.entries(dropped).filter(([, count]) => count);
  const sum = reasons.reduce((all, [, count]) => all + count, 0);
  const balances = tracked === delivered + queued + sum;
  return html`
    <span><b>${tracked}</b> tracked</span> = <span><b>${delivered}</b> delivered</span> +
    <span><b>${queued}</b> queued</span> +
    <span class=${sum ? 'lost' : ''}><b>${sum}</b> dropped</span>
    ${reasons.length ? html`<small>(${reasons.map(([name, count]) => `${name} ${count}`).join(', ')})</small>` : ''}
    ${balances ? html`<i class="good">✓ <span>balances</span></i>` : html`<i class="lost">does not balance</i>`}
  `;
};

export const showWay = () => {
  const list = byId('way');
  drawWhenChanged([memory, stored, sent, counts], () => {
    render(stations().map(item), list);
    move(list);
    const stats = memory.get();
    render(stats ? account(stats) : 'The stub keeps the calls until the bundle is here.', byId('sum'));
  });
};
