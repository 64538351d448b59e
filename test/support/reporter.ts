import { JsonReporter, type Reporter, type TestModule } from 'vitest/node';
import { firstLine } from '../run/report.ts';

/** Whether a hook or the file itself has thrown. */
const isBroken = (module: TestModule): boolean =>
  module.errors().length > 0 || [...module.children.allSuites()].some((suite) => suite.errors().length > 0);

/**
 * Vitest's JSON report and, in `outside`, the failures outside of every test. Vitest leaves out unhandled rejections and
 * workers that crash, so that one unstable test in the same run would hide them. A test that passed only after a retry has
 * `isRetried` in its `meta`.
 */
export class CompleteReporter extends JsonReporter {
  #outside: string[] = [];

  override async onTestRunEnd(
    ...[modules, unhandled = []]: Partial<Parameters<NonNullable<Reporter['onTestRunEnd']>>>
  ) {
    this.#outside = [
      ...(modules ?? []).filter(isBroken).map(({ moduleId }) => moduleId),
      ...unhandled.map(({ message }) => `outside of every test: ${firstLine(message)}`),
    ];
    // A retry hides that a test is unstable. The report of Vitest has no other place for it.
    for (const module of modules ?? [])
      for (const test of module.children.allTests())
        if (test.diagnostic()?.flaky) Object.assign(test.meta(), { isRetried: true });
    await super.onTestRunEnd(modules ?? []);
  }

  override writeReport(report: string): Promise<void> {
    return super.writeReport(JSON.stringify({ ...JSON.parse(report), outside: this.#outside }));
  }
}
