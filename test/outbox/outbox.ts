import type { Journal } from '../../src/outbox/journal.ts';
import { createQueue, type Queue, type QueuePorts } from '../../src/outbox/queue.ts';

const LIMITS = { maxBatchEvents: 200, maxBatchBytes: 60_000, maxQueuedEvents: 10_000 };
export const noJournal: Journal = {
  write() {},
  keep() {},
  drop() {},
  adopt() {},
  replace() {},
  others: () => [],
  pages: () => [],
  latest: () => ({ name: '', texts: [] }),
  isAmong: () => false,
};

/** An outbox with the ports that a test gives. The other ports have usual values. */
export const createOutbox = ({
  limits,
  ...ports
}: Partial<Omit<QueuePorts, 'limits'>> &
  Pick<QueuePorts, 'store'> & { limits?: Partial<QueuePorts['limits']> }): Queue =>
  createQueue({
    journal: noJournal,
    service: '/clew',
    page: 'tab',
    pages: () => 3,
    onStored() {},
    isInformed: () => true,
    onUnseen() {},
    onSize() {},
    ...ports,
    limits: { ...LIMITS, ...limits },
  });
