// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { cell, drawWhenChanged } from './cell.js';
import { byId, counted, fieldsOf, formById, inputById } from './dom.js';
import { finish } from './guide.js';
import { arrivals, arrived } from './service.js';
import { createSums } from './sums.js';

/**
 * Visitors of the shop in frames: names like `v1-x.clew.localhost` all lead to this machine, and each has storage of its own.
 *
 * @typedef {ReturnType<typeof createSums>} Sums
 * @typedef {{ name: string, host: string, sums: Sums, threads: Set<string>, frame?: Window, isDone: boolean }} Visitor
 */

/** @type {import('./cell.js').Cell<Visitor[]>} */
const visitors = cell(/** @type {Visitor[]} */ ([]));
/** @type {import('./cell.js').Cell<'away' | 'here' | 'leaving' | 'gone' | 'unheard'>} */
const state = cell(/** @type {any} */ ('away'));

/**
 * Where they live. Seen from there, frames are of the same site: a browser that refuses storage to frames of other sites
 * gives it to them.
 */
const SITE = `clew.localhost:${location.port}`;
const MOST = 24;
/** How long (ms) the first of them may take to be heard of. */
const PATIENCE = 8000;

/** @param {number} count */
const sendIn = (count) => {
  // Other names than the last time: nobody brings along what another one has left behind.
  const run = Math.random().toString(36).slice(2, 6);
  const names = Array.from(
    { length: Math.min(Math.max(Math.floor(count) || 1, 1), MOST) },
    (_, index) => `v${index + 1}`,
  );
  /** @type {Visitor[]} */
  const crowd = names.map((name) => ({
    name,
    host: `${name}-${run}.${SITE}`,
    sums: createSums(),
    threads: new Set(),
    isDone: false,
  }));
  visitors.set(crowd);
  state.set('here');
  finish('crowd');
  setTimeout(() => {
    if (visitors.get() === crowd && crowd.every(({ frame }) => !frame)) state.set('unheard');
  }, PATIENCE);
};

const stop = () => {
  state.set('leaving');
  for (const { frame } of visitors.get()) frame?.postMessage('stop', '*');
};

const isOver = () => state.get() === 'leaving' || state.get() === 'gone';

/** @param {MessageEvent} message */
const hear = ({ data, origin, source }) => {
  const visitor = visitors.get().find(({ host }) => origin === `http://${host}`);
  if (!visitor) return;
  visitor.frame = /** @type {Window} */ (source);
  // It went to another page just as it was to stop.
  if (data.isReady && isOver()) visitor.frame.postMessage('stop', '*');
  if (data.isReady) visitor.isDone = false;
  if (data.isDone) visitor.isDone = true;
  if (data.thread) visitor.threads.add(data.thread);
  if (data.trace) visitor.sums.hear(data.trace);
  if (data.dropped) visitor.sums.drop(data.dropped.events, data.dropped.reason);
  if (isOver()) state.set(visitors.get().every((each) => each.isDone) ? 'gone' : 'leaving');
  visitors.set(visitors.get());
};

/** @param {Visitor} visitor */
const tile = (visitor) => {
  const { tracked } = visitor.sums.stats();
  return html`
    <li>
      <div class="small" inert><iframe src="http://${visitor.host}/shop/" title="Visitor ${visitor.name}"></iframe></div>
      <p><b>${visitor.name}</b> <span>${arrivals.count(visitor.threads)} of ${tracked} arrived</span></p>
    </li>
  `;
};

/** Each page of a visitor who has no storage is another visitor. */
const advice = () =>
  visitors.get().some(({ threads }) => threads.size > 1)
    ? html`<br /><small>This browser keeps nothing for frames of another site, so each page is a new visitor. At
        <a href="http://${SITE}">${SITE}</a> it does.</small>`
    : '';

const sum = () => {
  const all = visitors.get();
  if (state.get() === 'unheard')
    return html`<span class="lost">Nobody came: this browser does not find <code>${all[0]?.host}</code>, a name of your own
      machine. Chromium and Firefox do, at the address that <code>npm run demo</code> prints.</span>`;
  if (!all.length) return '';
  const sums = all.map((visitor) => visitor.sums.stats());
  const tracked = sums.reduce((total, each) => total + each.tracked, 0);
  const dropped = sums.flatMap((each) => Object.values(each.dropped)).reduce((total, count) => total + count, 0);
  const there = arrivals.count(all.flatMap(({ threads }) => [...threads]));
  const isEven = there === tracked - dropped;
  const numbers = html`<b>${tracked.toLocaleString('en')}</b> tracked by ${counted(all.length, 'visitor')},
    <b>${there.toLocaleString('en')}</b> arrived`;
  if (state.get() !== 'gone')
    return html`${numbers}${state.get() === 'leaving' ? '; the last ones are being sent' : ''}`;
  return html`${numbers}${dropped ? html`, ${dropped} dropped` : ''}:
    ${isEven ? html`<span class="good">✓ none lost, none twice</span>` : html`<span class="lost">the rest is under way</span>`}`;
};

export const showCrowd = () => {
  addEventListener('message', hear);
  const form = formById('crowd-form');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sendIn(Number(fieldsOf(form).count));
  });
  byId('stop').addEventListener('click', stop);
  drawWhenChanged([visitors, state, arrived], () => {
    const isHere = state.get() === 'here' || state.get() === 'leaving';
    inputById('send-in').disabled = isHere;
    inputById('stop').disabled = state.get() !== 'here';
    const shown = state.get() === 'unheard' ? [] : visitors.get();
    render(
      repeat(shown, ({ host }) => host, tile),
      byId('crowd'),
    );
    render(html`${sum()}${advice()}`, byId('crowd-sum'));
  });
};
