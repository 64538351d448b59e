// @ts-check
import { clew, field, form } from './session.js';

/** The shop keeps the answer, because clew needs it on every page and stores nothing about a refusal. */

const tick = field(form('privacy'), 'statistics');
const answer = /** @type {HTMLElement} */ (document.getElementById('answer'));

const show = () => {
  answer.textContent = tick.checked
    ? 'Your visitor id is a random number, kept in this browser.'
    : 'Nothing is counted. This browser has erased your visitor id.';
};

tick.checked = !document.cookie.includes('statistics=no');
show();
tick.addEventListener('change', () => {
  clew('consent', tick.checked);
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not everywhere
  document.cookie = `statistics=${tick.checked ? 'yes' : 'no'}; path=/shop; max-age=15552000; samesite=lax`;
  show();
});
