// @ts-check
import { drawWhenChanged } from './cell.js';
import { byId, onClick } from './dom.js';
import { finish } from './guide.js';
import { arrivals, arrived } from './service.js';
import { clew, goTo } from './site.js';

/** Calls that a shop has no button for, made in its page. */

const MANY = 200;
const LAST_WORDS = 10;

/** The departure whose events are counted as they arrive. */
let departure = '';

/** Tracks events and leaves in the same task, before anything can be stored or sent. */
const leave = () => {
  departure = crypto.randomUUID();
  for (let number = 1; number <= LAST_WORDS; number++) clew('track', 'last_words', { number, departure });
  goTo('/shop/thanks');
  finish('leave');
  showProof();
};

const showProof = () => {
  if (!departure) return;
  const came = arrivals.filter(({ payload }) => Object(payload).departure === departure);
  const different = new Set(came.map(({ payload }) => Object(payload).number)).size;
  const left = `Tracked ${LAST_WORDS} events and left in the same task`;
  if (different < LAST_WORDS) return show(`${left}. Arrived so far: ${different}.`);
  const twice = came.length - different;
  show(`${left}: all ${LAST_WORDS} arrived, ${twice ? `${twice} of them twice` : 'none twice'}.`);
};

/** @param {string} text */
const show = (text) => {
  const result = byId('lab-result');
  if (result.textContent !== text) result.textContent = text;
};

/** @param {string} id @param {() => void} action @param {string} text */
const button = (id, action, text) =>
  onClick(id, () => {
    departure = '';
    action();
    show(text);
  });

export const showLab = () => {
  button(
    'many',
    () => {
      for (let number = 1; number <= MANY; number++) clew('track', 'sheep_counted', { number });
    },
    `Called track ${MANY} times in one task. They share batches.`,
  );
  // JSON has no bigint: clew drops the event and reports it.
  button(
    'broken',
    () => clew('track', 'wool_weighed', { grams: 100n }),
    'JSON has no 100n: the event was dropped with the reason unserialisable.',
  );
  button('flush', () => clew('flush'), 'Sent the queue at once.');
  button('reset', () => clew('reset'), 'A new visitor id: later events belong to another customer.');
  onClick('leave', leave);
  drawWhenChanged([arrived], showProof);
};
