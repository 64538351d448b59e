import { createCollector } from '../../demo/collector/collector.ts';
import { embedded } from './drivers.ts';
import { KEY, serveApp } from './running.ts';

/** A collector on disk in a process of its own, which a test can kill. The process sends its address to the test. */
const { options } = await embedded.prepare();
const { app } = await createCollector({ ...options, apiKey: KEY, dataDir: process.argv[2] ?? '' });
process.send?.((await serveApp(app)).url);
// The process must not outlive the test that started it.
process.once('disconnect', () => process.exit());
