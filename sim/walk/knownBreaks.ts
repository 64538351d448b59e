import type { Broken } from '../world/world.ts';
import { deliveryBreaks } from './deliveryBreaks.ts';
import type { KnownBreak } from './knownBreak.ts';
import { personBreaks } from './personBreaks.ts';
import type { Plan } from './plan.ts';
import { storageBreaks } from './themes/storageBreaks.ts';

export const knownBreaks: readonly KnownBreak[] = [...personBreaks, ...deliveryBreaks, ...storageBreaks];

/** Whether a known break explains what this walk broke. */
export const isKnown = (plan: Plan, { invariant, detail }: Pick<Broken, 'invariant' | 'detail'>): boolean =>
  knownBreaks.some((known) => known.invariant === invariant && known.mayShow(plan, detail));
