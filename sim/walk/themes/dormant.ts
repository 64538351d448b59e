import { consent } from './consent.ts';
import { pages } from './pages.ts';
import type { Theme } from './theme.ts';

/** Walks in which the visitor answers while other tabs are frozen, throttled, discarded or prerendered. */
export const dormant: Theme = {
  ...pages,
  actions: { ...pages.actions, ...consent.actions },
  dataset: { consent: 'required' },
};
