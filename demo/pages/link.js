// @ts-check
import { sent, stored } from './browser.js';
import { linkIn } from './stored.js';

/** How the way to the service is, in people's words: what all tabs of this origin know of it, and what this one saw. */
export const linkState = () => {
  const { isHeld = false, until = 0 } = linkIn(stored.get()) ?? {};
  const left = Math.ceil((until - Date.now()) / 1000);
  if (left > 0) return isHeld ? 'sending now' : `next try in ${left} s`;
  const [last] = sent.get();
  if (!last) return 'nothing sent yet';
  return last.status >= 200 && last.status < 300 ? 'the link works' : 'the last one failed';
};
