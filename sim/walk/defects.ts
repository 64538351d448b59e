import type { Broken } from '../world/world.ts';
import type { Defect } from './defect.ts';
import { deliveryDefects } from './deliveryDefects.ts';
import { personDefects } from './personDefects.ts';
import type { Plan } from './plan.ts';
import { consentDefects } from './themes/consentDefects.ts';
import { storageDefects } from './themes/storageDefects.ts';

export const defects: readonly Defect[] = [...personDefects, ...deliveryDefects, ...consentDefects, ...storageDefects];

/** Whether a known defect explains what this walk broke. */
export const isKnown = (plan: Plan, { invariant, detail }: Pick<Broken, 'invariant' | 'detail'>): boolean =>
  defects.some((defect) => defect.invariant === invariant && defect.mayShow(plan, detail));
