import type { FullResult, Reporter, TestCase, TestResult } from '@playwright/test/reporter';
import { type Row, rowOf, showRow, showTotals } from './table.ts';

/** Prints one row per fault and browser as it ends. In the end, it prints the whole table and its totals. */
// Playwright asks for a default export that it can call with `new`.
export default function createTableReporter(): Reporter {
  const rows: Row[] = [];
  /** Printed again at the end, for readers of the last lines. */
  const failures: string[] = [];
  return {
    onTestEnd(test: TestCase, result: TestResult) {
      const row = rowOf(test, result);
      rows.push(row);
      console.log(showRow(row));
      const said = result.errors.map((error) => error.stack ?? error.message ?? '');
      for (const text of said) console.log(text);
      if (said[0] !== undefined) failures.push(showRow(row), ...said);
    },
    onError: (error) => console.log(error.stack ?? error.message),
    onEnd(result: FullResult) {
      rows.sort((a, b) => a.fault - b.fault || a.title.localeCompare(b.title) || a.engine.localeCompare(b.engine));
      console.log(['', ...rows.map(showRow), '', ...failures, ...showTotals(rows)].join('\n'));
      if (result.status !== 'passed') console.log(`${result.status}`);
    },
    printsToStdio: () => true,
  };
}
