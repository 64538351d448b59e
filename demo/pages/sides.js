// @ts-check
import { byId, onClick } from './dom.js';

/** Where there is no room for both sides: which of them is shown, by a swipe or by a button. */

const SIDES = ['browser', 'service'];

/** @param {string} shown */
const mark = (shown) => {
  for (const side of SIDES) byId(`show-${side}`).setAttribute('aria-pressed', String(side === shown));
};

export const showSides = () => {
  const sides = byId('sides');
  for (const side of SIDES) onClick(`show-${side}`, () => sides.scrollTo({ left: byId(side).offsetLeft }));
  sides.addEventListener('scroll', () => {
    const isPastHalf = sides.scrollLeft > (sides.scrollWidth - sides.clientWidth) / 2;
    mark(isPastHalf ? 'service' : 'browser');
  });
};
