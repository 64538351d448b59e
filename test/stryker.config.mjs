import { filesOf, sampleOf } from './stryker.sample.mjs';

const folders = ['tracker', 'api', 'recorder', 'visitor', 'outbox', 'courier', 'page', 'relay'];
const files = filesOf(folders);

/**
 * `npm run mutants`, by hand: Stryker makes thousands of small changes in `src`, and counts the changes that no test notices.
 * `npm run mutants -- -m 'src/courier/**'` mutates one folder, and `ONE_OF=10 npm run mutants` a tenth of the code.
 */
export default {
  plugins: ['@stryker-mutator/vitest-runner', './test/stryker.messages.mjs'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/stryker.vitest.mjs', dir: 'test' },
  mutate: process.env.ONE_OF ? sampleOf(files, Number(process.env.ONE_OF)) : files,
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
