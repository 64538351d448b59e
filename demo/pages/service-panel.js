// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { drawWhenChanged } from './cell.js';
import { byId, counted, short, timeOf } from './dom.js';
import { factList } from './fact-list.js';
import { factsOfEvent } from './facts.js';
import { arrived, counts } from './service.js';
import { visitorId } from './site.js';

/**
 * @typedef {import('./service.js').ListedEvent} ListedEvent
 * @typedef {import('./service.js').ListedCustomer} ListedCustomer
 */

/** @param {string | null} primaryKey */
const nameOf = (primaryKey) => primaryKey ?? html`<span class="none">anonymous</span>`;

/** @param {ListedEvent} event */
const eventRow = (event) => html`
  <li>
    <details>
      <summary>
        <time>${timeOf(event.timestamp)}</time>
        <b>${event.event}</b>
        <span class="who">${nameOf(event.primaryKey)}</span>
        ${factList(factsOfEvent(event))}
      </summary>
      <pre>${JSON.stringify(event, null, 2)}</pre>
    </details>
  </li>
`;

const events = () => {
  const { events = [] } = arrived.get() ?? {};
  const total = counts.get()?.events ?? 0;
  return html`
    <h3>Events <small>${total > events.length ? `the newest of ${counted(total, 'event')}` : 'newest first'}</small></h3>
    <ol class="rows events" tabindex="0" aria-label="Events that arrived, newest first">
      ${repeat(events, ({ uuid }) => uuid, eventRow)}
      ${events.length ? '' : html`<li class="none">Nothing has arrived yet.</li>`}
    </ol>
  `;
};

/** @param {ListedCustomer} customer */
const customerRow = ({ primaryKey, properties, correlationValues }) => html`
  <li>
    <p>
      <b>${nameOf(primaryKey)}</b>
      ${correlationValues.includes(visitorId.get()) ? html`<i class="good">this browser</i>` : ''}
    </p>
    <dl class="properties">
      ${Object.entries(properties).map(
        ([name, value]) =>
          html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? value : JSON.stringify(value)}</dd></div>`,
      )}
    </dl>
    <p class="hint">
      ${counted(correlationValues.length, 'visitor id')}
      ${correlationValues.slice(-3).map((value) => html`<code title=${value}>${short(value)}</code> `)}
    </p>
  </li>
`;

const customers = () => {
  const { customers = [] } = arrived.get() ?? {};
  const total = counts.get()?.customers ?? 0;
  return html`
    <h3>Customers <small>${total > customers.length ? `${customers.length} of ${total.toLocaleString('en')}` : ''}</small></h3>
    <ul class="rows customers" tabindex="0" aria-label="Customers, newest first">
      ${repeat(customers, ({ id }) => id, customerRow)}
      ${customers.length ? '' : html`<li class="none">None yet. The first event creates an anonymous customer.</li>`}
    </ul>
  `;
};

const sums = () => {
  const { events, customers, firings } = counts.get() ?? {};
  const all = /** @type {const} */ ([
    ['event', 'events', events],
    ['customer', 'customers', customers],
    ['journey started', 'journeys started', firings],
  ]);
  return all.map(
    ([one, many, count]) => html`
      <div><dt>${count === 1 ? one : many}</dt><dd>${count?.toLocaleString('en') ?? '–'}</dd></div>
    `,
  );
};

export const showService = () =>
  drawWhenChanged([arrived, counts, visitorId], () => {
    render(sums(), byId('counts'));
    render(events(), byId('events'));
    render(customers(), byId('customers'));
  });
