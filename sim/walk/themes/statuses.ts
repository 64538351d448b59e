import { type Actions, actions as common } from '../actions.ts';
import type { Theme } from './theme.ts';

const STATUSES = [408, 425, 429, 500, 502, 503, 504];
/** `Retry-After` in seconds, and texts that are neither seconds nor a date. */
const WAITS = ['0', '1', '7', '90', '3600', '86400'];
const GARBAGE = ['', 'soon', '-30', 'NaN', '30 s', 'Infinity'];
/** Seconds from now to the date in `Retry-After`. */
const DATES = [-60, 0, 20, 300, 5000];

const actions: Actions = {
  ...common,
  service: [
    9,
    (random) => ({
      verb: 'service',
      status: random.pick(STATUSES),
      takes: random.chance(0.1),
      ...random.pick([
        {},
        { retryAfter: random.pick(WAITS) },
        { retryDate: random.pick(DATES) },
        { retryAfter: random.pick(GARBAGE) },
      ]),
    }),
  ],
};

/** A service that is overloaded, and asks for pauses in all forms. */
export const statuses: Theme = { actions };
