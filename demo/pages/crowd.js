// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { cell, drawWhenChanged } from './cell.js';
import { byId, counted, FieldError, inputById, onSubmit } from './dom.js';
import { finish } from './guide.js';
import { arrivals, arrived } from './service.js';
import { createSums } from './sums.js';

/**
 * Visitors of the shop in frames: names like `v1-x.clew.localhost` all lead to this machine, and each has storage of its own.
 *
 * @typedef {ReturnType<typeof createSums>} Sums
 * @typedef {{ name: string, host: string, sums: Sums, ids: Set<string>, frame?: Window, isDone: boolean }} Visitor
 */

/** @type {import('./cell.js').Cell<Visitor[]>} */
const visitors = cell(/** @type {Visitor[]} */ ([]));
/** @type {import('./cell.js').Cell<'away' | 'here' | 'leaving' | 'gone' | 'unreachable'>} */
const state = cell(/** @type {any} */ ('away'));

/**
 * The site of the frames. A page of this site and its frames are of the same site. The frames' storage then works also in a
 * browser that refuses storage to frames of other sites.
 */
const SITE = `clew.localhost:${location.port}`;
const MOST = 24;
/** How long (ms) the first visitor may take to report. */
const PATIENCE = 8000;

/** @param {number} count */
const sendIn = (count) => {
  // Each run has new host names, and therefore empty storage.
  const run = Math.random().toString(36).slice(2, 6);
  const names = Array.from({ length: count }, (_, index) => `v${index + 1}`);
  /** @type {Visitor[]} */
  const crowd = names.map((name) => ({
    name,
    host: `${name}-${run}.${SITE}`,
    sums: createSums(),
    ids: new Set(),
    isDone: false,
  }));
  visitors.set(crowd);
  state.set('here');
  finish('crowd');
  setTimeout(() => {
    if (visitors.get() === crowd && crowd.every(({ frame }) => !frame)) state.set('unreachable');
  }, PATIENCE);
};

const stop = () => {
  // A frame that has not reported has no page that could stop.
  visitors.set(visitors.get().filter(({ frame }) => frame));
  state.set(visitors.get().length ? 'leaving' : 'away');
  for (const { frame } of visitors.get()) frame?.postMessage('stop', '*');
};

const isOver = () => state.get() === 'leaving' || state.get() === 'gone';

/** @param {MessageEvent} message */
const receive = ({ data, origin, source }) => {
  const visitor = visitors.get().find(({ host }) => origin === `http://${host}`);
  if (!visitor) return;
  visitor.frame = /** @type {Window} */ (source);
  // The visitor followed a link just when it was stopped, so its new page has to stop, too.
  if (data.isReady && isOver()) visitor.frame.postMessage('stop', '*');
  if (data.isReady) visitor.isDone = false;
  if (data.isDone) visitor.isDone = true;
  if (data.trace?.step === 'visitor' && data.trace.visitorId) visitor.ids.add(data.trace.visitorId);
  if (data.trace) visitor.sums.receive(data.trace);
  if (data.dropped) visitor.sums.drop(data.dropped.events, data.dropped.reason);
  if (isOver()) state.set(visitors.get().every((each) => each.isDone) ? 'gone' : 'leaving');
  visitors.set(visitors.get());
};

/** @param {Visitor} visitor */
const tile = (visitor) => {
  const { tracked } = visitor.sums.stats();
  return html`
    <li>
      ${
        // The last click of a visitor may leave a blank frame.
        state.get() === 'gone'
          ? ''
          : html`<div class="small" inert><iframe src="http://${visitor.host}/shop/" title="Visitor ${visitor.name}"></iframe></div>`
      }
      <p><b>${visitor.name}</b> <span>${arrivals.count(visitor.ids)} of ${tracked} arrived</span></p>
    </li>
  `;
};

/** Without storage, each page has a new visitor id. */
const advice = () =>
  visitors.get().some(({ ids }) => ids.size > 1)
    ? html`<br /><small>This browser refuses storage to frames of another site, so each page is a new visitor. At
        <a href="http://${SITE}">${SITE}</a> it allows it.</small>`
    : '';

/** @param {number} missing */
const verdict = (missing) => {
  if (!missing) return html`<span class="good">✓ none lost, none twice</span>`;
  return html`<span class="lost">${missing > 0 ? `${missing} not there yet` : `${-missing} more than were tracked`}</span>`;
};

const sum = () => {
  const all = visitors.get();
  if (state.get() === 'unreachable')
    return html`<span class="lost">No visitor started: this browser does not find <code>${all[0]?.host}</code>, a name of your own
      machine. Chromium and Firefox do, at the address that <code>npm run demo</code> prints.</span>`;
  if (!all.length) return '';
  const sums = all.map((visitor) => visitor.sums.stats());
  const tracked = sums.reduce((total, each) => total + each.tracked, 0);
  const dropped = sums.flatMap((each) => Object.values(each.dropped)).reduce((total, count) => total + count, 0);
  const there = arrivals.count(all.flatMap(({ ids }) => [...ids]));
  const missing = tracked - dropped - there;
  const numbers = html`<b>${tracked.toLocaleString('en')}</b> tracked by ${counted(all.length, 'visitor')},
    <b>${there.toLocaleString('en')}</b> arrived`;
  if (state.get() !== 'gone') return html`${numbers}${state.get() === 'leaving' ? '; sending the last events' : ''}`;
  return html`${numbers}${dropped ? html`, ${dropped} dropped` : ''}:
    ${verdict(missing)}`;
};

export const showCrowd = () => {
  addEventListener('message', receive);
  onSubmit('crowd-form', ({ count }) => {
    const number = Number(count);
    if (!Number.isInteger(number) || number < 1 || number > MOST)
      throw new FieldError('count', `Visitors: expected a whole number from 1 to ${MOST}.`);
    sendIn(number);
  });
  byId('stop').addEventListener('click', stop);
  drawWhenChanged([visitors, state, arrived], () => {
    const isHere = state.get() === 'here' || state.get() === 'leaving';
    inputById('send-in').disabled = isHere;
    inputById('stop').disabled = state.get() !== 'here';
    const shown = state.get() === 'unreachable' ? [] : visitors.get();
    render(
      repeat(shown, ({ host }) => host, tile),
      byId('crowd'),
    );
    render(html`${sum()}${advice()}`, byId('crowd-sum'));
  });
};
