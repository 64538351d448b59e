import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** A mutant ends with the first test that fails, so the files that wait for real time come last. */
const SLOW = /\/test\/relay(\/(booksShared|limits|outages|rules|sending|tokens))?\.test\.ts$/;
const rankOf = ({ moduleId }) => (SLOW.test(moduleId) ? 1 : 0);
class SlowLast extends BaseSequencer {
  async sort(files) {
    return files.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/**
 * The tests that mutants run against: in Node, of `src`, without a database, a browser, a build or another process. `index.test.ts` is out,
 * because it loads the modules anew: Stryker would take what a module computes while it loads as covered by that test alone.
 */
export default defineConfig({
  test: {
    tags: [{ name: 'promise' }, { name: 'long', skip: true }],
    include: [
      '{relay,testing,wire}.test.ts',
      '{api,courier,outbox,page,plugins,recorder,relay,testing,tracker,visitor}/*.test.ts',
    ],
    // Coverage and a busy machine slow tests down. Stryker itself ends a mutant that hangs.
    testTimeout: 20_000,
    // All files of a run share the modules: to load them for each file takes longer than most tests.
    isolate: false,
    setupFiles: ['test/support/tidyPages.ts', 'test/stryker.setup.mjs'],
    sequence: { sequencer: SlowLast },
    exclude: [
      'relay/{bodies,faults,identity,load,reading,seen,signature}.test.ts',
      'plugins/renewTokens.test.ts',
      // Each of them waits more than ten seconds of real time.
      'relay/receipts.test.ts',
      'testing/rehearse.test.ts',
      '**/*.long.test.ts',
    ],
  },
});
