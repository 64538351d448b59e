import { createServer } from 'node:http';
import { createRelay, memorySeen, toNodeHandler } from '../../src/relay.ts';
import { listenOn } from '../upstream.ts';

/**
 * A relay in a process of its own with little memory. The process sends its address, and on request its heap in bytes after a
 * collection.
 */
const relay = createRelay({
  forward: async () => new Response(null, { status: 201 }),
  // The relay soon has this number of ids, so the rest of the test does not add to its heap.
  seen: memorySeen({ maxEvents: 1000 }),
  limits: { address: false, total: false },
  bodyTimeout: 2000,
});
process.send?.(await listenOn(createServer(toNodeHandler(relay))));
process.on('message', () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage().heapUsed);
});
// The process must not outlive the test that started it.
process.once('disconnect', () => process.exit());
