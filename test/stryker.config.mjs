/**
 * `npm run mutants`, by hand: Stryker makes thousands of small changes in `src`, and counts the changes that no test notices.
 * `npm run mutants -- -m 'src/courier/**'` mutates one folder.
 */
export default {
  plugins: ['@stryker-mutator/vitest-runner', './test/stryker.messages.mjs'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/stryker.vitest.mjs', dir: 'test' },
  mutate: ['tracker', 'api', 'recorder', 'visitor', 'outbox', 'courier', 'page', 'relay'].map(
    (part) => `src/${part}{.ts,/**/*.ts}`,
  ),
  coverageAnalysis: 'perTest',
  // A static mutant changes what a module computes while it loads, so all tests would run again for it.
  ignoreStatic: true,
  ignorers: ['messages'],
  concurrency: 2,
  // The first run takes four minutes, and longer on a busy machine. The default is five.
  dryRunTimeoutMinutes: 30,
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: {
    allowColor: false,
    allowEmojis: false,
    logTests: false,
    reportTests: false,
    reportScoreTable: true,
  },
  htmlReporter: { fileName: 'test-results/mutants/index.html' },
  jsonReporter: { fileName: 'test-results/mutants/mutants.json' },
  tempDirName: 'test-results/stryker',
  // Tests import helpers from the other folders, and read the docs.
  ignorePatterns: ['/dist', '/test-results', '/.ci'],
};
