// @ts-check
import { html, render } from 'lit-html';
import { drawWhenChanged } from './cell.js';
import { byId, counted } from './dom.js';
import { followEvents, followed, pausedUntil } from './event-path.js';
import { arrivals, arrived } from './service.js';

/**
 * The five stations of an event's path.
 *
 * @typedef {import('./event-path.js').Followed} Followed
 * @typedef {'done' | 'waiting' | 'wrong' | 'open'} State
 * @typedef {{ name: string, state: State, text: string }} Station
 */

/** @param {number} ms */
const after = (ms) => (ms < 1000 ? `${Math.max(ms, 0)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** Shown until there is an event. @type {Station[]} */
const PROMISES = [
  { name: 'Tracked', state: 'open', text: 'in the call itself, with a copy of its payload' },
  { name: 'Stored', state: 'open', text: 'in IndexedDB, where a crash does not lose it' },
  { name: 'Sent', state: 'open', text: 'in a batch, as gzip, to your relay' },
  { name: 'Confirmed', state: 'open', text: 'by the service, and only then deleted here' },
  { name: 'Arrived', state: 'open', text: 'in the service’s database' },
];

/** @param {Followed} event @returns {Station} */
const stored = ({ at, stored, sent }) => {
  const name = 'Stored';
  if (stored !== undefined) return { name, state: 'done', text: `in IndexedDB after ${after(stored - at)}` };
  if (sent?.isLeaving) return { name, state: 'open', text: 'the page left first' };
  return { name, state: 'waiting', text: 'being written' };
};

/** Seconds of the back-off that are left. */
const secondsLeft = () => Math.max(Math.ceil((pausedUntil.get() - Date.now()) / 1000), 0);

/** @param {Followed} event @returns {Station} */
const sent = ({ at, sent, isDelivered }) => {
  const name = 'Sent';
  if (!sent && isDelivered) return { name, state: 'done', text: 'by another tab, which sends for all tabs' };
  if (!sent && secondsLeft()) return { name, state: 'waiting', text: `waits for the next try in ${secondsLeft()} s` };
  if (!sent) return { name, state: 'waiting', text: 'waits up to 3 s for more events' };
  const company = sent.others ? `with ${counted(sent.others, 'other')}` : 'alone';
  if (sent.isLeaving) return { name, state: 'done', text: `${company}, as the page left` };
  if (sent.wasLeft) return { name, state: 'done', text: 'as the page left, and again by the next page' };
  const again = sent.tries > 1 ? `, try ${sent.tries}` : '';
  return {
    name,
    state: 'done',
    text: `after ${after(sent.at - at)}, ${company}, ${sent.bytes.toLocaleString('en')} bytes${again}`,
  };
};

/** @param {Followed} event @returns {Station} */
const confirmed = ({ sent, answered, isDelivered }) => {
  const name = 'Confirmed';
  if (!answered && isDelivered) return { name, state: 'done', text: 'to the tab that sent it' };
  if (!sent) return { name, state: 'open', text: 'kept here until then' };
  if (!answered || answered.at < sent.at) {
    if (sent.isLeaving) return { name, state: 'open', text: 'the next page asks the relay' };
    return { name, state: 'waiting', text: 'waits for the answer' };
  }
  if (answered.outcome === 'delivered' && answered.status === undefined)
    return { name, state: 'done', text: `to the next page, after ${after(answered.at - sent.at)}` };
  if (answered.outcome === 'delivered')
    return { name, state: 'done', text: `answered ${answered.status} in ${after(answered.at - sent.at)}` };
  const what = answered.status ? `answered ${answered.status}` : 'no answer';
  return {
    name,
    state: 'wrong',
    text: `${what}: kept, ${secondsLeft() ? `next try in ${secondsLeft()} s` : 'tried again'}`,
  };
};

/** @param {Followed} event @returns {Station} */
const arrivedAt = ({ uuid }) => {
  const name = 'Arrived';
  const event = arrivals.find(uuid);
  if (!event) return { name, state: 'open', text: 'not yet' };
  const { journeys = [] } = arrived.get() ?? {};
  const who = event.primaryKey ?? 'an anonymous customer';
  const started = journeys.find(({ firings }) => firings.some((each) => each.uuid === uuid));
  return { name, state: 'done', text: started ? `from ${who}; started “${started.name}”` : `from ${who}` };
};

/** @param {Followed | undefined} event @returns {Station[]} */
const stations = (event) => {
  if (!event) return PROMISES;
  const tracked = { name: 'Tracked', state: /** @type {State} */ ('done'), text: 'in the call itself' };
  if (event.reason)
    return [tracked, { name: 'Dropped', state: 'wrong', text: `${event.reason}: reported to the page by this name` }];
  return [tracked, stored(event), sent(event), confirmed(event), arrivedAt(event)];
};

/** @param {Station} station */
const item = ({ name, state, text }) => html`
  <li class=${state}><h3>${name}</h3><p>${text}</p></li>
`;

/** The last station that the event has reached, for a screen without room for all texts. @param {Station[]} all */
const now = (all) => {
  const { name, text } = all.findLast(({ state }) => state !== 'open') ?? /** @type {Station} */ (all[0]);
  return html`<b>${name}</b> ${text}`;
};

/** @param {Followed | undefined} current */
const title = (current) => {
  if (!current) return 'The path of an event';
  const { event, path } = current;
  return html`Newest event: <code>${event}</code> ${path ? html`<small>${path}</small>` : ''}`;
};

/** For screen readers, once the path has ended. @param {Followed} event */
const spoken = (event) => {
  const last = stations(event).at(-1);
  return last?.state === 'open' ? '' : `${event.event}: ${last?.name}, ${last?.text}`;
};

/** How often (ms) the seconds of a back-off are counted. */
const PACE = 500;

export const showPath = () => {
  followEvents();
  const draw = () => {
    const event = followed.get();
    render(stations(event).map(item), byId('stations'));
    render(now(stations(event)), byId('now'));
    render(title(event), byId('path-title'));
    if (!event) return;
    if (byId('path-end').textContent !== spoken(event)) byId('path-end').textContent = spoken(event);
  };
  // lit-html appends to the text of an element.
  byId('path-title').textContent = '';
  drawWhenChanged([followed, pausedUntil, arrived], draw);
  setInterval(() => pausedUntil.get() > Date.now() && draw(), PACE);
};
