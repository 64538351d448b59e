import { createServer } from 'node:http';
import { createRelay, toNodeHandler } from '../../src/relay.ts';
import { listenOn } from '../upstream.ts';

/** A relay in a process of its own, to measure its memory. The process sends its address, and on request its peak in bytes. */
const relay = createRelay({ forward: async () => new Response(null, { status: 201 }) });
process.send?.(await listenOn(createServer(toNodeHandler(relay))));
process.on('message', () => process.send?.(process.resourceUsage().maxRSS * 1024));
// The process must not outlive the test that started it.
process.once('disconnect', () => process.exit());
