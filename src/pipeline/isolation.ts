import type { Batch, BatchLimits } from './batch.js';
import { idOf } from './event.js';

/** So many single events refused with no success between them: then it is the service, not the events. */
const BREAKER = 5;
/** So many failures in a row before a 500 may mean the batch: the service says 500 for a poison event, too. */
const DOUBTS = 3;

interface Suspect {
  readonly bytes: number;
  /** Refused by a status that speaks of the content, so that it may be dropped without anything to compare it to. */
  readonly sure: boolean;
}

/**
 * Finds the poison event that makes a batch be refused: batches are halved until one stands alone, and that one is
 * passed over until another's success proves that it, and not the service, was at fault.
 */
export const createIsolation = (limits: BatchLimits) => {
  let suspects = new Map<string, Suspect>();
  let most = limits.maxBatchEvents;
  let maxBatchBytes = limits.maxBatchBytes;

  const clear = (): string[] => {
    const ids = [...suspects.keys()];
    suspects = new Map();
    most = limits.maxBatchEvents;
    return ids;
  };

  /** The batch was refused. Returns false when the service seems to refuse everything. */
  const narrow = ({ items, bytes }: Batch, status: number | undefined, sure = true): boolean => {
    most = Math.max(items.length >> 1, 1);
    if (items.length > 1) {
      if (status === 413) maxBatchBytes = bytes >> 1;
      return true;
    }
    for (const text of items) suspects.set(idOf(text), { bytes, sure });
    if (suspects.size < BREAKER) return true;
    clear();
    return false;
  };

  return {
    /** Limits for the next batch. */
    limits: (): BatchLimits => ({ maxBatchEvents: most, maxBatchBytes }),
    /** How far to read so that a batch remains when suspects are passed over. */
    reach: () => {
      let bytes = limits.maxBatchBytes;
      for (const suspect of suspects.values()) bytes += suspect.bytes;
      return { count: limits.maxBatchEvents + suspects.size, bytes };
    },
    isSuspect: (id: string): boolean => suspects.has(id),
    narrow,
    /** The batch failed: the same again, byte for byte, unless it is in doubt itself. */
    repeat: (batch: Batch, failures: number): void => {
      most = batch.items.length;
      if (failures >= DOUBTS) narrow(batch, undefined, false);
    },
    /** A success: the suspects are found guilty. */
    clear,
    /** Nothing is left to compare with: `sure` ones are guilty, and whether others have to be tried again. */
    finish: (): { sure: string[]; unsure: boolean } => {
      const sure = [...suspects].flatMap(([id, suspect]) => (suspect.sure ? [id] : []));
      const unsure = sure.length < suspects.size;
      clear();
      return { sure, unsure };
    },
  };
};
