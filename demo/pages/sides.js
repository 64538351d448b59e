// @ts-check
import { byId, onClick } from './dom.js';

/** On a narrow screen, a swipe or a button chooses which of the two sides shows. */

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
