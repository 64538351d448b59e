// @ts-check
import { html, render } from 'lit-html';
import { drawWhenChanged } from './cell.js';
import { attempt, byId, counted, onClick } from './dom.js';
import { pausedUntil } from './event-path.js';
import {
  breakService,
  countsOf,
  countsOfReload,
  followOutage,
  isBroken,
  isOtherFault,
  isPlaying,
  outage,
} from './outage.js';
import { chart } from './outage-chart.js';
import { arrived } from './service.js';

/** @typedef {import('./outage.js').Outage} Outage */

const NOTHING = { tracked: 0, waiting: 0, arrived: 0, dropped: 0 };

/** @param {number} until ms since the epoch */
const secondsTo = (until) => Math.max(Math.ceil((until - Date.now()) / 1000), 0);

/** @param {Outage | undefined} current */
const clock = (current) => {
  if (!isPlaying()) return isBroken() ? 'The service fails already.' : '';
  if (current?.phase === 'down')
    return isOtherFault() ? '' : html`<b>${secondsTo(current.endsAt)}</b> s until the service is back`;
  const left = secondsTo(pausedUntil.get());
  return left ? html`next try in <b>${left}</b> s` : 'sending';
};

/** @param {Outage} current */
const verdict = (current) => {
  const { tracked, arrived, dropped } = countsOf(current);
  if (!tracked) return 'Nothing was tracked: the visitor has objected to it on the page “Privacy”.';
  const were = `${counted(tracked, 'event')} ${tracked === 1 ? 'was' : 'were'} tracked, ${arrived} arrived`;
  return `${were}${dropped ? `, ${dropped} dropped` : ''}.`;
};

const reloadSentence = () => {
  const { waited, arrived } = countsOfReload();
  if (!waited) return '';
  return `${counted(waited, 'event')} waited when the page was reloaded: ${arrived} ${arrived === 1 ? 'has' : 'have'} arrived.`;
};

/** For screen readers, too: no more than one sentence for each phase. @param {Outage | undefined} current */
const sentence = (current) => {
  if (!current) return reloadSentence();
  if (current.phase === 'down')
    return isOtherFault()
      ? 'The service has the fault chosen under “Service faults”.'
      : 'The service answers 503. Events wait.';
  if (current.phase === 'draining') return 'The service is back. clew sends after its back-off.';
  return verdict(current);
};

/** @param {Outage | undefined} current */
const numbers = (current) => {
  const { tracked, waiting, arrived, dropped } = current ? countsOf(current) : NOTHING;
  return html`
    <div><dt>tracked${dropped ? `, ${dropped} dropped` : ''}</dt><dd>${tracked}</dd></div>
    <div class="waiting"><dt>waiting <span>in the browser</span></dt><dd>${waiting}</dd></div>
    <div class="arrived"><dt>arrived <span>at the service</span></dt><dd>${arrived}</dd></div>
  `;
};

export const showOutage = () => {
  followOutage();
  onClick('break', () => attempt(byId('outage'), breakService));
  drawWhenChanged([outage, arrived, pausedUntil], () => {
    const current = outage.get();
    byId('outage').dataset.phase = current?.phase ?? 'rest';
    // Not `disabled`, which would take the focus from the button.
    byId('break').setAttribute('aria-disabled', String(isPlaying() || isBroken()));
    render(numbers(current), byId('outage-numbers'));
    render(chart(current), byId('outage-chart'));
    render(clock(current), byId('outage-clock'));
    const state = byId('outage-state');
    if (state.textContent !== sentence(current)) state.textContent = sentence(current);
  });
};
