import { v4 as uuid } from 'uuid';
import type { Settings } from '../api/options.js';
import { createBooks } from './books.js';
import { createFarewell } from './farewell.js';
import { createStore } from './indexedDb.js';
import { createJournal } from './journal.js';
import { createQueue, type QueuePorts, type SizeMessage } from './queue.js';
import { createReceipts } from './receipts.js';

export interface OutboxPorts extends Pick<QueuePorts, 'pages' | 'onStored' | 'onUnseen'> {
  /** The line to the other tabs, for the number of stored events. */
  readonly channel: { post(by: SizeMessage): void; isOpen(): boolean };
  fail(message: string): void;
}

/** All unconfirmed events: the queue in memory and in the store, and their copies in localStorage. */
export const createOutbox = (settings: Settings, ports: OutboxPorts) => {
  const { storageName: service, apiKey, release } = settings;
  const { post: onSize, isOpen: isInformed } = ports.channel;
  /** Names this page's rows in the store, and its journal. */
  const page = uuid();
  const store = settings.store ?? createStore(ports.fail);
  const journal = createJournal(service, page, store.local);
  return {
    store,
    journal,
    farewell: createFarewell(service, journal, store.local),
    queue: createQueue({ ...ports, onSize, isInformed, store, journal, service, page, limits: settings }),
    // A service cannot be asked for the result of a request.
    receipts: apiKey ? undefined : createReceipts(service, store.local),
    books: apiKey ? undefined : createBooks(service, journal, page, release, store.local),
  };
};
