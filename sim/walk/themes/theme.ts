import type { Random } from '../../world/random.ts';
import type { Actions } from '../actions.ts';
import type { Plan } from '../plan.ts';
import type { Stage } from '../stage.ts';

/** The additions of a theme to the common walk. */
export interface Theme {
  readonly actions: Actions;
  /** Options of the script tag besides the common ones. */
  readonly dataset?: Plan['dataset'];
  /** Other differences from the plan of a common walk. */
  readonly more?: (random: Random) => Partial<Plan>;
  readonly features?: Partial<Plan['features']>;
  /** Ends the theme's faults when the walk recovers. */
  readonly recover?: (stage: Stage) => void;
}
