// @ts-check
import { stored } from './browser.js';
import { linkIn } from './stored.js';

/** What the tabs of this origin know of the way to the service, in people's words. */

export const linkState = () => {
  const link = linkIn(stored.get());
  const now = Date.now();
  if (!link) return 'nothing sent yet';
  const left = Math.ceil((link.until - now) / 1000);
  // `until` is the end of somebody's lease, or with no holder that of everybody's wait.
  if (left > 0) return link.holder ? 'sending now' : `next try in ${left} s`;
  return link.failures ? `failed ${link.failures} ×` : 'the link works';
};
