import { afterAll, inject } from 'vitest';

// The tests of a worker share one record of the mutants that they cover, and Stryker takes all of it after each file. With one file after
// the other, the copies would fill the memory. So each file gets a record of its own.
const stryker = globalThis[inject('globalNamespace')];
if (stryker) {
  stryker.shared ??= { static: {}, perTest: {} };
  const { shared } = stryker;
  let record = shared;
  Object.defineProperty(stryker, 'mutantCoverage', { get: () => record, configurable: true });
  // Stryker's own hook runs after this one, because its setup file comes first.
  afterAll(() => {
    record = { ...shared };
    shared.perTest = {};
  });
}
