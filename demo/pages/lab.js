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

/** Tracks events and leaves in the same task, the hardest thing to do to a tracker. */
const leave = () => {
  departure = crypto.randomUUID();
  for (let number = 1; number <= LAST_WORDS; number++) clew('track', 'last_words', { number, departure });
  goTo('/shop/thanks');
  finish('leave');
  showProof();
};

const showProof = () => {
  if (!departure) return;
  const count = arrivals.filter(({ payload }) => Object(payload).departure === departure).length;
  say(
    count < LAST_WORDS
      ? `Tracked ${LAST_WORDS} events and left in the same task. Arrived so far: ${count}.`
      : `Tracked ${LAST_WORDS} events and left in the same task: all ${LAST_WORDS} arrived, none twice.`,
  );
};

/** @param {string} text */
const say = (text) => {
  const result = byId('lab-result');
  if (result.textContent !== text) result.textContent = text;
};

/** @param {string} id @param {() => void} action @param {string} text */
const button = (id, action, text) =>
  onClick(id, () => {
    departure = '';
    action();
    say(text);
  });

export const showLab = () => {
  button(
    'many',
    () => {
      for (let number = 1; number <= MANY; number++) clew('track', 'sheep_counted', { number });
    },
    `Called track ${MANY} times in one task. They travel together.`,
  );
  // JSON knows no bigint: the event is dropped, and said to be.
  button(
    'broken',
    () => clew('track', 'wool_weighed', { grams: 100n }),
    'JSON knows no 100n: dropped, for a named reason.',
  );
  button('flush', () => clew('flush'), 'Sent at once what would have waited.');
  button('reset', () => clew('reset'), 'A new thread: what follows belongs to somebody else.');
  onClick('leave', leave);
  drawWhenChanged([arrived], showProof);
};
