import { type Actions, actions } from '../actions.ts';
import type { Plan, ThemeName } from '../plan.ts';
import { consent } from './consent.ts';

/** What a theme adds to the common walk. */
export interface Theme {
  readonly actions: Actions;
  /** Options of the script tag besides the common ones. */
  readonly dataset?: Plan['dataset'];
}

export const themes: Readonly<Record<ThemeName, Theme>> = {
  plain: { actions },
  consent,
};
