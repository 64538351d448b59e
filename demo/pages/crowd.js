// @ts-check
import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { cell, drawWhenChanged } from './cell.js';
import { byId, counted, fieldsOf, formById, inputById } from './dom.js';
import { finish } from './guide.js';
import { arrivals, arrived } from './service.js';

/**
 * Visitors of the shop in frames: names like `v1-x.clew.localhost` all lead to this machine, and each has storage of its own.
 *
 * @typedef {{ tracked: number, queued: number, dropped: number }} Sums
 * @typedef {{ name: string, host: string, pages: Map<string, Sums>, threads: Set<string>, path: string, frame?: Window, isSettled: boolean }} Visitor
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

/** @param {Visitor} visitor @returns {Sums} over all of the pages that it has seen; only the last one has anything queued */
const sumsOf = ({ pages }) => {
  const all = [...pages.values()];
  const add = (/** @type {keyof Sums} */ name) => all.reduce((sum, each) => sum + each[name], 0);
  return { tracked: add('tracked'), queued: all.at(-1)?.queued ?? 0, dropped: add('dropped') };
};

/** @param {number} count */
const sendIn = (count) => {
  // Other names than the last time: nobody brings along what another one has left behind.
  const run = Math.random().toString(36).slice(2, 6);
  const names = Array.from(
    { length: Math.min(Math.max(Math.floor(count) || 1, 1), MOST) },
    (_, index) => `v${index + 1}`,
  );
  const crowd = names.map((name) => ({
    name,
    host: `${name}-${run}.${SITE}`,
    pages: new Map(),
    threads: new Set(),
    path: '',
    isSettled: false,
  }));
  visitors.set(crowd);
  state.set('here');
  finish('crowd');
  setTimeout(() => {
    if (visitors.get() === crowd && crowd.every(({ pages }) => !pages.size)) state.set('unheard');
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
  if (data.isReady) return;
  const { page, thread, tracked, queued, dropped, path, isDone } = data;
  visitor.pages.set(page, { tracked, queued, dropped });
  if (thread) visitor.threads.add(thread);
  visitor.path = path;
  visitor.isSettled = isDone;
  if (isOver()) state.set(visitors.get().every((each) => each.isSettled) ? 'gone' : 'leaving');
  visitors.set(visitors.get());
};

/** @param {Visitor} visitor */
const tile = (visitor) => {
  const { tracked, queued } = sumsOf(visitor);
  return html`
    <li>
      <div class="small" inert><iframe src="http://${visitor.host}/shop/" title="Visitor ${visitor.name}"></iframe></div>
      <p><b>${visitor.name}</b> <span>${tracked} tracked${queued ? html`, <i>${queued} queued</i>` : ''}</span></p>
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
  const tracked = all.reduce((total, visitor) => total + sumsOf(visitor).tracked, 0);
  const dropped = all.reduce((total, visitor) => total + sumsOf(visitor).dropped, 0);
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
