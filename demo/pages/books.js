// @ts-check
import { html, render } from 'lit-html';
import { ask } from './ask.js';
import { attempt, byId, onClick } from './dom.js';

/** @typedef {import('../../dist/relay.js').BookTotals} BookTotals */

const COUNT = 10;
/** How long (ms) the service fails. The relay retries the handover of a page that leaves for a shorter time. */
const FAILING = 8000;
/** How often (ms) the page asks for the report. */
const INTERVAL = 500;
/** The previous page has broken something. */
const BROKEN = 'books: broken';

/** @param {...unknown} call */
const clew = (...call) =>
  /** @type {{ clew: (...call: unknown[]) => unknown }} */ (/** @type {unknown} */ (window)).clew(...call);

/** @param {string} text */
const showState = (text) => {
  byId('books-state').textContent = text;
};

const trackSome = () => {
  for (let n = 1; n <= COUNT; n++) clew('track', 'counted', { n });
};

/** @param {BookTotals} row */
const line = ({ release, engine, tracked, delivered, dropped, missing, unknown }) => html`<tr>
  <td>${release || 'none'}</td>
  <td>${engine}</td>
  <td>${tracked}</td>
  <td class="good">${delivered}</td>
  <td>${Object.entries(dropped).map(([reason, count]) => html`${count} ${reason} `)}</td>
  <td>${unknown}</td>
  <td class=${missing ? 'lost' : ''}>${missing}</td>
</tr>`;

/** @param {BookTotals[]} rows */
const table = (rows) =>
  rows[0]
    ? html`<div class="wide" tabindex="0" role="group" aria-label="Table of the report"><table>
        <thead><tr><th>Release</th><th>Engine</th><th>Tracked</th><th>Arrived</th><th>Dropped</th><th>Unknown</th><th>Missing</th></tr></thead>
        <tbody>${rows.map(line)}</tbody>
      </table></div>`
    : html`<p class="unseen">Nothing is tracked yet.</p>`;

/** Written only if the text is another one, because a screen reader reads it aloud each time. @param {string} text */
const showConnection = (text) => {
  const alert = byId('books-connection');
  if (alert.textContent !== text) alert.textContent = text;
};

const update = async () => {
  try {
    /** @type {BookTotals[]} */
    const rows = await fetch('/books/report').then((answer) => answer.json());
    render(table(rows), byId('books'));
    showConnection('');
  } catch {
    showConnection('No connection to the demo.');
  }
};

/** Blocks the buttons during the work, because a press would change what is counted. @param {() => Promise<void>} work */
const alone = async (work) => {
  const actions = byId('books-actions');
  actions.inert = true;
  try {
    await work();
  } finally {
    actions.inert = false;
  }
};

/** The rows of events in clew's database. @param {(rows: IDBObjectStore) => IDBRequest} work @returns {Promise<unknown>} */
const inDatabase = (work) =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open('clew');
    opening.onerror = reject;
    opening.onsuccess = () => {
      const request = work(opening.result.transaction('clew', 'readwrite').objectStore('clew'));
      request.onerror = reject;
      request.onsuccess = () => {
        opening.result.close();
        resolve(request.result);
      };
    };
  });

/** Deletes the stored events behind clew's back, and leaves. */
const breakSomething = async () => {
  // Earlier events arrive first: ten are deleted, and no others.
  await clew('flush');
  await ask('PUT', 'faults', { mode: 'status', status: 503, duration: FAILING });
  trackSome();
  showState('The service fails. Ten events are tracked, and wait in the database.');
  const rows = IDBKeyRange.bound(['books'], ['books', []]);
  while (!(await inDatabase((store) => store.count(rows)))) await new Promise(requestAnimationFrame);
  await inDatabase((store) => store.delete(rows));
  sessionStorage.setItem(BROKEN, 'yes');
  location.reload();
};

/** Also while the demo is stopped. */
const isFailing = async () => (await ask('GET', 'faults').catch(() => undefined))?.mode !== 'none';

const comeBack = async () => {
  sessionStorage.removeItem(BROKEN);
  showState('The rows are deleted, and the page has left. The service still fails.');
  while (await isFailing()) await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  clew('track', 'came_back');
  await clew('flush');
  showState('This page has closed the book of the page before: the deleted events are missing.');
};

onClick('track', trackSome);
onClick('drop', () => clew('track', 'weighed', { grams: 100n }));
onClick('reload', () => location.reload());
onClick('break', () => attempt(byId('books-page'), () => alone(breakSomething)));
setInterval(update, INTERVAL);
update();
if (sessionStorage.getItem(BROKEN)) alone(comeBack);
