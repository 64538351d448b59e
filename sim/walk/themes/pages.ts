import { type Actions, actions as common } from '../actions.ts';
import { recoverPages } from './pagesVerbs.ts';
import type { Theme } from './theme.ts';

const actions: Actions = {
  ...common,
  hide: [4, (_, tab) => ({ verb: 'hide', tab })],
  open: [5, (_, tab) => ({ verb: 'open', tab })],
  freeze: [6, (_, tab) => ({ verb: 'freeze', tab })],
  stall: [4, (random, tab) => ({ verb: 'stall', tab, ms: 50 + random.below(random.chance(0.2) ? 20_000 : 1000) })],
  thaw: [3, (_, tab) => ({ verb: 'thaw', tab })],
  discard: [2, (_, tab) => ({ verb: 'discard', tab })],
  prerender: [8, (random, tab) => ({ verb: 'prerender', tab, count: random.below(3) })],
  activate: [14, (_, tab) => ({ verb: 'activate', tab })],
  cancelPrerender: [2, (_, tab) => ({ verb: 'cancelPrerender', tab })],
  duplicate: [3, (_, tab) => ({ verb: 'duplicate', tab })],
};

/** A browser that saves power and loads ahead: pages are frozen, throttled, discarded, prerendered and duplicated. */
export const pages: Theme = { actions, features: { hasThrottling: true }, recover: recoverPages };
