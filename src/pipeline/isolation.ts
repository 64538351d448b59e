import type { Batch, BatchLimits } from './batch.js';
import { idOf } from './event.js';

/** So many single events refused with no success between them: then it is the service, not the events. */
const BREAKER = 5;

/**
 * Finds the poison event that makes a batch be refused: batches are halved until one event stands alone, and that one
 * is passed over until another's success proves that it, and not the service, was at fault.
 */
export const createIsolation = ({ maxBatchEvents, maxBatchBytes }: BatchLimits) => {
  const suspects = new Set<string>();
  let isSure = true;
  const limits = { maxBatchEvents, maxBatchBytes };
  return {
    /** Limits for the next batch. */
    limits,
    /** What is passed over for now. */
    suspects,
    /** How far to read, so that a batch remains when the suspects are passed over. */
    reach: (): number => maxBatchBytes * (suspects.size + 1),
    /** The batch was refused. Returns false when the service seems to refuse everything. */
    narrow({ items: [first, second], items, bytes }: Batch, status: number | undefined): boolean {
      // The service says 500 for a poison event, but not only for that.
      isSure = status !== 500;
      limits.maxBatchEvents = Math.max(items.length >> 1, 1);
      if (second && status === 413) limits.maxBatchBytes = bytes >> 1;
      if (first && !second) suspects.add(idOf(first));
      return suspects.size < BREAKER;
    },
    /** Whether suspects may be dropped with nothing to compare them to. */
    isSure: (): boolean => isSure,
    /** Ends the suspicion; returns who was suspected. */
    clear(): string[] {
      const ids = [...suspects];
      suspects.clear();
      limits.maxBatchEvents = maxBatchEvents;
      return ids;
    },
  };
};
