import { type Actions, actions as common } from '../actions.ts';
import type { Theme } from './theme.ts';

/** Faults of network, service and relay would excuse much of what a crash takes. */
const CALM = [
  'poison',
  'offline',
  'online',
  'restartRelay',
  'clearDatabase',
  'fair',
  'network',
  'service',
  'serviceWell',
];

const actions: Actions = {
  ...Object.fromEntries(Object.entries(common).filter(([name]) => !CALM.includes(name))),
  trackAndLeave: [14, (random, tab) => ({ verb: 'trackAndLeave', tab, count: 1 + random.below(3) })],
  setPropertiesAndLeave: [8, (_, tab) => ({ verb: 'setPropertiesAndLeave', tab })],
  navigate: [10, (_, tab) => ({ verb: 'navigate', tab })],
  crash: [5, (_, tab) => ({ verb: 'crash', tab })],
  kill: [8, () => ({ verb: 'kill' })],
};

/** Pages crash and the browser is killed while nothing else is wrong: what the next page finds is all that there is. */
export const crashes: Theme = { actions };
