import { defineConfig } from 'vitest/config';
import { CompleteReporter } from '../../support/reporter.ts';

/** Plays the files whose report `reporter.long.test.ts` checks. */
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['*.ts'],
    exclude: ['vitest.config.ts'],
    reporters: [new CompleteReporter({ outputFile: process.env.REPORT ?? '' })],
  },
});
