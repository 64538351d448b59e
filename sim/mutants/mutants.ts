import { answerMutants } from './answerMutants.ts';
import { callMutants } from './callMutants.ts';
import { clockMutants } from './clockMutants.ts';
import { deliveryMutants } from './deliveryMutants.ts';
import type { Mutant } from './mutant.ts';
import { receiptMutants } from './receiptMutants.ts';
import { relayMutants } from './relayMutants.ts';
import { signalMutants } from './signalMutants.ts';
import { storageMutants } from './storageMutants.ts';
import { visitorMutants } from './visitorMutants.ts';

/** All mutants. The simulator has to find each of them. */
export const mutants: readonly Mutant[] = [
  ...storageMutants,
  ...deliveryMutants,
  ...answerMutants,
  ...visitorMutants,
  ...relayMutants,
  ...receiptMutants,
  ...callMutants,
  ...clockMutants,
  ...signalMutants,
];
