// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { ask } from './ask.js';
import { drawWhenChanged } from './cell.js';
import { byId, counted, FieldError, onSubmit, timeOf } from './dom.js';
import { factList } from './fact-list.js';
import { factsOf } from './facts.js';
import { arrived } from './service.js';

/** @typedef {import('./service.js').ListedJourney} ListedJourney */

/** How many starts of a journey are shown. */
const MOST_STARTS = 4;

/** @param {ListedJourney['firings'][number]} firing */
const startRow = ({ primaryKey, at }) => html`
  <li><time>${timeOf(at)}</time> for <b>${primaryKey ?? html`<span class="none">anonymous</span>`}</b></li>
`;

/** @param {ListedJourney} journey */
const journeyRow = ({ id, name, event, filter, count, firings }) => html`
  <li>
    <p>
      <b>${name}</b>
      <i class=${count ? 'good' : 'none'}>${count ? `started ${counted(count, 'time')}` : 'not started'}</i>
      <button class="link" aria-label="Delete the journey ${name}" @click=${() => ask('DELETE', `journeys/${id}`).catch(() => {})}>
        Delete
      </button>
    </p>
    <p class="hint">on <code>${event}</code> ${filter ? html`with ${factList(factsOf(filter))}` : ''}</p>
    <ol class="firings">
      ${repeat(firings.slice(-MOST_STARTS).reverse(), ({ uuid }) => uuid, startRow)}
    </ol>
  </li>
`;

/** @param {string} text @returns {unknown} */
const readFilter = (text) => {
  if (!text.trim()) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FieldError('filter', `Payload: expected JSON. ${error instanceof Error ? error.message : error}`);
  }
};

export const showJourneys = () => {
  onSubmit('new-journey', async ({ name = '', event = '', filter = '' }, form) => {
    if (!name.trim()) throw new FieldError('name', 'Enter a name.');
    if (!event.trim()) throw new FieldError('event', 'Enter the name of an event.');
    await ask('POST', 'journeys', { name: name.trim(), event: event.trim(), filter: readFilter(filter) });
    form.reset();
  });
  drawWhenChanged([arrived], () => {
    const { journeys = [] } = arrived.get() ?? {};
    const content = html`
      <h3>Journeys</h3>
      <ul class="rows journeys">
        ${repeat(journeys, ({ id }) => id, journeyRow)}
        ${journeys.length ? '' : html`<li class="none">None. Create one below.</li>`}
      </ul>
    `;
    render(content, byId('journeys'));
  });
};
