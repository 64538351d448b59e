// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { said, sent, stored, thread } from './browser.js';
import { drawWhenChanged } from './cell.js';
import { byId, counted, timeOf } from './dom.js';
import { customer } from './shop.js';
import { isUpsert } from './stored.js';

/** @typedef {import('./stored.js').Row} Row */

const visitor = () => html`
  <h3>Visitor</h3>
  <dl class="facts">
    <div><dt>Thread</dt><dd><code class="thread">${thread.get() || 'not known yet'}</code></dd></div>
    <div><dt>Customer</dt><dd>${customer() ?? html`<span class="none">anonymous: nobody was identified</span>`}</dd></div>
  </dl>
`;

/** @param {string} text */
const storedItem = (text) => {
  const { event, primary_key: primaryKey } = JSON.parse(text);
  return isUpsert(text) ? `upsert of ${primaryKey}` : event;
};

const MOST_NAMES = 6;
/** @param {Row} row */
const storedRow = ({ key: [, page, count], items }) => {
  const more = items.length - MOST_NAMES;
  return html`
    <li>
      <code title="page load ${page}, row ${count}">${page}.${count}</code>
      <span>${items.slice(0, MOST_NAMES).map(storedItem).join(', ')}${more > 0 ? ` and ${more} more` : ''}</span>
      <small>${new Blob(items).size.toLocaleString('en')} B</small>
    </li>
  `;
};

/** @param {[name: string, value: unknown]} record */
const storedRecord = ([name, value]) => html`
  <details>
    <summary><code>${name}</code></summary>
    <pre>${JSON.stringify(value, null, 2)}</pre>
  </details>
`;

const emptiness = () =>
  thread.get()
    ? 'Everything is confirmed. What you click next is kept here first.'
    : 'Opened by the bundle, which is not here yet.';

const held = () => {
  const { rows, records, events, upserts } = stored.get();
  const sum = `${counted(events, 'event')}${upserts ? ` and ${counted(upserts, 'upsert')}` : ''}`;
  return html`
    <h3>IndexedDB <small>${rows.length ? `${sum} in ${counted(rows.length, 'row')}` : 'no unsent rows'}</small></h3>
    <ul class="rows">
      ${repeat(rows.slice(0, 20), ({ key }) => String(key), storedRow)}
      ${rows.length ? '' : html`<li class="none">${emptiness()}</li>`}
    </ul>
    <div class="records">${repeat(records, ([name]) => name, storedRecord)}</div>
  `;
};

const KINDS = { '/api/customers/upsert': 'upsert', '/api/events/batch/': 'batch', '/events/': 'single event' };

/** @param {import('./browser.js').Sent} request */
const request = ({ at, path, via, status, ms }) => {
  const kind = Object.entries(KINDS).find(([end]) => path.endsWith(end))?.[1] ?? path;
  const isGood = status >= 200 && status < 300;
  return html`
    <li>
      <time>${timeOf(at)}</time>
      <span>${kind} <small>${via === 'beacon' ? 'as a beacon' : ''}</small></span>
      <span class="status ${isGood ? 'good' : 'lost'}">${status || 'no answer'}</span>
      <small>${ms.toLocaleString('en')} ms</small>
    </li>
  `;
};

const requestList = () => html`
  <h3>Requests <small>to <code>/clew</code>, the relay that holds the key</small></h3>
  <ol class="rows" tabindex="0" aria-label="Requests, newest first">
    ${repeat(sent.get(), (each) => each, request)}
    ${sent.get().length ? '' : html`<li class="none">None yet.</li>`}
  </ol>
`;

/** @param {import('./browser.js').Said} signal */
const signalLine = ({ at, signal, text }) => html`
  <li class=${signal}><time>${timeOf(at)}</time><b>${signal}</b> <span>${text}</span></li>
`;

const signalList = () => html`
  <h3>Signals <small>what <code>clew('on', …)</code> tells the page</small></h3>
  <ol class="rows signals" tabindex="0" aria-label="Signals, newest first">
    ${repeat(said.get(), ({ id }) => id, signalLine)}
    ${said.get().length ? '' : html`<li class="none">None yet.</li>`}
  </ol>
`;

export const showBrowser = () => {
  drawWhenChanged([thread, stored], () => {
    render(visitor(), byId('visitor'));
    render(held(), byId('held'));
  });
  drawWhenChanged([sent], () => render(requestList(), byId('sent')));
  drawWhenChanged([said], () => {
    render(signalList(), byId('said'));
    const [newest] = said.get();
    // Deliveries go without saying.
    if (newest && newest.signal !== 'delivered') {
      byId('announcement').textContent = `${newest.signal}: ${newest.text}`;
    }
  });
};
