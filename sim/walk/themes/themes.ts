import { type Actions, actions } from '../actions.ts';
import type { Plan, ThemeName } from '../plan.ts';
import type { Stage } from '../stage.ts';
import { pages } from './pages.ts';
import { storage } from './storage.ts';

/** What a theme adds to the common walk. */
export interface Theme {
  readonly actions: Actions;
  /** Options of the script tag besides the common ones. */
  readonly dataset?: Plan['dataset'];
  readonly features?: Partial<Plan['features']>;
  /** Ends the theme's faults when the walk recovers. */
  readonly recover?: (stage: Stage) => void;
}

export const themes: Readonly<Record<ThemeName, Theme>> = {
  plain: { actions },
  storage,
  pages,
};
