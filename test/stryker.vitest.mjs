import { defineConfig } from 'vitest/config';

/** The tests that mutants run against: in Node, of `src`, without a database, a browser, a build or another process. */
export default defineConfig({
  test: {
    tags: [{ name: 'promise' }, { name: 'long', skip: true }],
    include: [
      '{index,relay,testing,wire}.test.ts',
      '{api,courier,outbox,page,plugins,recorder,relay,testing,tracker,visitor}/*.test.ts',
    ],
    // Coverage and a busy machine slow tests down. Stryker itself ends a mutant that hangs.
    testTimeout: 20_000,
    exclude: [
      'relay/{bodies,faults,identity,load,reading,seen,signature}.test.ts',
      'plugins/renewTokens.test.ts',
      '**/*.long.test.ts',
    ],
  },
});
