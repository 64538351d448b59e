// @ts-check
import { html, render } from 'lit-html';
import { ask } from './ask.js';
import { drawWhenChanged } from './cell.js';
import { attempt, byId, clearErrors, FieldError, fieldsOf, formById } from './dom.js';
import { arrived } from './service.js';

/**
 * Switches for the service's faults.
 *
 * @typedef {{ name: string, body: object, is(fault: any): boolean }} Mode
 */

const MOST_REQUESTS = 1_000_000;
const MOST_SECONDS = 600;

/** @param {string} count how many requests, or nothing for every request */
const checkCount = (count) => {
  const number = Number(count);
  if (count.trim() && !(Number.isInteger(number) && number >= 1 && number <= MOST_REQUESTS))
    throw new FieldError('count', 'next … requests: expected a whole number from 1 to 1,000,000, or nothing.');
};

/** @param {string} seconds */
const checkSeconds = (seconds) => {
  if (!/^\s*\d+\s*$/.test(seconds) || Number(seconds) > MOST_SECONDS)
    throw new FieldError('seconds', `wait … s: expected a whole number from 0 to ${MOST_SECONDS}.`);
};

/** @param {Record<string, string>} fields @returns {Mode[]} */
const modes = ({ seconds = '' }) => [
  { name: 'None', body: { mode: 'none' }, is: ({ mode }) => mode === 'none' },
  { name: '500', body: { mode: 'status', status: 500 }, is: ({ status }) => status === 500 },
  {
    name: '429',
    body: { mode: 'status', status: 429, retryAfter: seconds.trim() },
    is: ({ status }) => status === 429,
  },
  { name: 'Slow', body: { mode: 'slow', delay: Number(seconds) * 1000 }, is: ({ mode }) => mode === 'slow' },
  { name: 'Hang', body: { mode: 'hang' }, is: ({ mode }) => mode === 'hang' },
  { name: 'Down', body: { mode: 'close-before' }, is: ({ mode }) => mode === 'close-before' },
  { name: 'Lost answer', body: { mode: 'close' }, is: ({ mode }) => mode === 'close' },
];

/** @param {Mode} mode */
const set = ({ body }) => {
  const form = formById('faults');
  const { count = '', seconds = '' } = fieldsOf(form);
  const isFault = !('mode' in body && body.mode === 'none');
  return attempt(form, () => {
    if (isFault) checkCount(count);
    if ('retryAfter' in body || 'delay' in body) checkSeconds(seconds);
    return ask('PUT', 'faults', { ...body, ...(isFault && count.trim() && { count: Number(count) }) });
  });
};

/** @param {any} fault */
const sentenceFor = ({ mode, status, retryAfter, delay, count, duration }) => {
  const next = count ? `The next ${count === 1 ? 'request' : `${count} requests`}` : 'Every request';
  const whose = duration ? `For a limited time, ${next.toLowerCase()}` : next;
  if (mode === 'none') return 'The service works. Choose a fault, then click in the shop.';
  if (mode === 'slow') return `${whose} will be answered ${delay / 1000} s late.`;
  if (mode === 'hang') return `${whose} will not be answered.`;
  if (mode === 'close-before') return `${whose} will find no server.`;
  if (mode === 'close') return `${whose} will be stored without an answer, so clew sends it again.`;
  return `${whose} will be answered ${status}${retryAfter ? ` with Retry-After: ${retryAfter}` : ''}. Nothing is stored.`;
};

export const showFaults = () => {
  const form = formById('faults');
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', () => clearErrors(form));
  drawWhenChanged([arrived], () => {
    const fault = arrived.get()?.fault ?? { mode: 'none' };
    const buttons = modes(fieldsOf(form)).map(
      (mode, index) => html`
        <button
          type="button"
          aria-pressed=${mode.is(fault)}
          @click=${() => set(/** @type {Mode} */ (modes(fieldsOf(form))[index]))}
        >
          ${mode.name}
        </button>
      `,
    );
    render(buttons, byId('fault-modes'));
    byId('faults').classList.toggle('is-on', fault.mode !== 'none');
    const state = byId('fault-state');
    // Written only if the sentence is another one, because a screen reader reads it aloud each time.
    if (state.textContent !== sentenceFor(fault)) state.textContent = sentenceFor(fault);
  });
};
