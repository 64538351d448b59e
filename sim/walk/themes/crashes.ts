import { type Actions, actions as common } from '../actions.ts';
import type { Theme } from './theme.ts';

/** Actions that these walks leave out, because faults of network, service and relay would excuse many losses by a crash. */
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

/** Pages crash and the browser is killed without any other fault. Only data on the disk survives. */
export const crashes: Theme = { actions };
