// @ts-check
import { html, render } from 'lit-html';
import { drawWhenChanged } from './cell.js';
import { byId, counted } from './dom.js';
import { arrivals, arrived } from './service.js';
import { followStory, pause, story } from './story.js';

/**
 * The five stations of an event's way, as beads on a thread.
 *
 * @typedef {import('./story.js').Story} Story
 * @typedef {'done' | 'waiting' | 'wrong' | 'open'} State
 * @typedef {{ name: string, state: State, text: string }} Station
 */

/** @param {number} ms */
const after = (ms) => (ms < 1000 ? `${Math.max(ms, 0)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** What is told before there is anything to tell. @type {Station[]} */
const PROMISES = [
  { name: 'Tracked', state: 'open', text: 'in the call itself, with a copy of its payload' },
  { name: 'Stored', state: 'open', text: 'in IndexedDB: a crash does not lose it' },
  { name: 'Sent', state: 'open', text: 'with others, as gzip, to a relay of your own' },
  { name: 'Confirmed', state: 'open', text: 'only then is it deleted here' },
  { name: 'Arrived', state: 'open', text: 'at the service, on the thread of its customer' },
];

/** @param {Story} told @returns {Station} */
const stored = ({ at, stored, sent }) => {
  const name = 'Stored';
  if (stored !== undefined) return { name, state: 'done', text: `in IndexedDB, ${after(stored - at)} after` };
  if (sent?.isLeaving) return { name, state: 'open', text: 'left before that was confirmed' };
  return { name, state: 'waiting', text: 'being written' };
};

/** @param {Story} told @returns {Station} */
const sent = ({ at, sent }) => {
  const name = 'Sent';
  if (!sent) return { name, state: 'waiting', text: 'waits up to 3 s for others to travel with' };
  const company = sent.others ? `with ${counted(sent.others, 'other')}` : 'alone';
  if (sent.isLeaving) return { name, state: 'done', text: `${company}, handed over as the page went away` };
  if (sent.wasLeft)
    return { name, state: 'done', text: 'handed over as the page went away, and again from the next one' };
  const again = sent.tries > 1 ? `, try ${sent.tries}` : '';
  return {
    name,
    state: 'done',
    text: `${after(sent.at - at)} after, ${company}, ${sent.bytes.toLocaleString('en')} bytes${again}`,
  };
};

/** @param {Story} told @returns {Station} */
const confirmed = ({ sent, answered }) => {
  const name = 'Confirmed';
  if (!sent) return { name, state: 'open', text: 'kept here until then' };
  if (!answered || answered.at < sent.at) {
    if (sent.isLeaving) return { name, state: 'open', text: 'the page is gone: nobody hears the answer' };
    return { name, state: 'waiting', text: 'waits for the answer' };
  }
  if (answered.outcome === 'delivered')
    return { name, state: 'done', text: `answered ${answered.status ?? 'well'} in ${after(answered.at - sent.at)}` };
  const left = Math.ceil((pause.get() - Date.now()) / 1000);
  const what = answered.status ? `answered ${answered.status}` : 'no answer';
  return { name, state: 'wrong', text: `${what}: kept, ${left > 0 ? `next try in ${left} s` : 'tried again'}` };
};

/** @param {Story} told @returns {Station} */
const arrivedAt = ({ uuid }) => {
  const name = 'Arrived';
  const event = arrivals.find(uuid);
  if (!event) return { name, state: 'open', text: 'not there yet' };
  const { customers = [], journeys = [] } = arrived.get() ?? {};
  const who = customers.find(({ id }) => id === event.customerId)?.primaryKey ?? 'an anonymous customer';
  const fired = journeys.find(({ firings }) => firings.some((each) => each.uuid === uuid));
  return {
    name,
    state: 'done',
    text: fired ? `${who}; started “${fired.name}”` : `at the service, on the thread of ${who}`,
  };
};

/** @param {Story | undefined} told @returns {Station[]} */
const stations = (told) => {
  if (!told) return PROMISES;
  const tracked = { name: 'Tracked', state: /** @type {State} */ ('done'), text: 'in the call itself' };
  if (told.reason)
    return [
      tracked,
      { name: 'Dropped', state: 'wrong', text: `${told.reason}: it cannot arrive, and the page is told why` },
    ];
  return [tracked, stored(told), sent(told), confirmed(told), arrivedAt(told)];
};

/** @param {Station} station */
const item = ({ name, state, text }) => html`
  <li class=${state}><h3>${name}</h3><p>${text}</p></li>
`;

/** Where there is no room for all of them: the last one that the event has come to. @param {Station[]} all */
const now = (all) => {
  const { name, text } = all.findLast(({ state }) => state !== 'open') ?? /** @type {Station} */ (all[0]);
  return html`<b>${name}</b> ${text}`;
};

/** @param {Story | undefined} told */
const title = (told) => {
  if (!told) return 'The way of an event';
  const { event, path } = told;
  return html`Just now: <code>${event}</code> ${path ? html`<small>${path}</small>` : ''}`;
};

/** In one breath, when the way has come to an end. @param {Story} told */
const spoken = (told) => {
  const last = stations(told).at(-1);
  return last?.state === 'open' ? '' : `${told.event}: ${last?.name}, ${last?.text}`;
};

/** How often (ms) the seconds of a wait are counted. */
const PACE = 500;

export const showStory = () => {
  followStory();
  const draw = () => {
    const told = story.get();
    render(stations(told).map(item), byId('stations'));
    render(now(stations(told)), byId('now'));
    render(title(told), byId('story-title'));
    if (!told) return;
    if (byId('told').textContent !== spoken(told)) byId('told').textContent = spoken(told);
  };
  byId('story-title').textContent = '';
  drawWhenChanged([story, pause, arrived], draw);
  setInterval(() => pause.get() > Date.now() && draw(), PACE);
};
