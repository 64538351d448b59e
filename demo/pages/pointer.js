// @ts-check
import { byId } from './dom.js';

/** The scripted visitor's pointer, drawn over the frame. */

/** How long (ms) a click is shown. */
const PRESS = 200;

/** @param {HTMLElement} frame @param {HTMLElement} target an element of the page in the frame */
export const movePointer = (frame, target) => {
  const { left, top, width, height } = target.getBoundingClientRect();
  const pointer = byId('pointer');
  pointer.hidden = false;
  pointer.style.translate = `${frame.offsetLeft + left + width / 2}px ${frame.offsetTop + top + height / 2}px`;
};

export const pressPointer = () => {
  const { classList } = byId('pointer');
  classList.add('is-pressed');
  setTimeout(() => classList.remove('is-pressed'), PRESS);
};

export const hidePointer = () => {
  byId('pointer').hidden = true;
};
