// @ts-check
import { byId } from './dom.js';
import { hidePointer, movePointer, pressPointer } from './pointer.js';

/** A visitor who clicks the real buttons and links of the shop in the frame, with a pointer that shows where. */

const frame = /** @type {HTMLIFrameElement} */ (byId('shop'));

/** Ms from one click to the next. */
const PACE = 600;
/** Ms for which the pointer rests on an element before the click. */
const AIM = 350;
/** One click in this many leads to another page. */
const CLICKS_PER_PAGE = 9;
/** The height (px) that stays free above a clicked element. */
const MARGIN = 50;
/** The least height (px) of the frame in sight that a click is brought into. */
const LEAST_SIGHT = 120;

/** @param {string} selector */
const visible = (selector) =>
  /** @type {HTMLElement[]} */ ([...(frame.contentDocument?.querySelectorAll(selector) ?? [])]).filter((element) =>
    element.checkVisibility(),
  );

/** @param {number} turn */
const targetOf = (turn) => {
  const marked = visible('button[data-clew-event]:not(#log-out), summary[data-clew-event]');
  const [link] = visible('nav a:is([href="/shop/"], [href="/shop/pricing"]):not([aria-current])');
  return turn % CLICKS_PER_PAGE === 0 || !marked.length ? link : marked[turn % marked.length];
};

/** Scrolls the shop only: `scrollIntoView` would scroll the page around it, too. @param {HTMLElement} element */
const reveal = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  const view = /** @type {Window} */ (frame.contentWindow);
  const inSight = Math.min(view.innerHeight, innerHeight - frame.getBoundingClientRect().top);
  const height = inSight < LEAST_SIGHT ? view.innerHeight : inSight;
  if (top < MARGIN || bottom > height) view.scrollBy(0, top - Math.max(height / 3, MARGIN));
};

/** @returns {() => void} stops the visitor */
export const startVisitor = () => {
  let turn = 0;
  /** @type {ReturnType<typeof setTimeout>} */
  let aiming;
  const timer = setInterval(() => {
    if (frame.contentDocument?.readyState !== 'complete') return;
    const target = targetOf(++turn);
    if (!target) return;
    reveal(target);
    movePointer(frame, target);
    aiming = setTimeout(() => {
      pressPointer();
      target.click();
    }, AIM);
  }, PACE);
  return () => {
    clearInterval(timer);
    clearTimeout(aiming);
    hidePointer();
  };
};
