import { createServer } from 'node:http';
import { createRelay, toNodeHandler } from '../../src/relay.ts';
import { listenOn } from '../upstream.ts';

/** A relay in a process of its own, whose memory is nobody else's. Says its address, and when asked, its peak in bytes. */
const relay = createRelay({ forward: async () => new Response(null, { status: 201 }) });
process.send?.(await listenOn(createServer(toNodeHandler(relay))));
process.on('message', () => process.send?.(process.resourceUsage().maxRSS * 1024));
// It does not outlive the test that started it.
process.once('disconnect', () => process.exit());
