import { type RunnerTestCase, TestRunner } from 'vitest';

/** Plays each test `REPEATS` times, which finds tests that fail now and then. */
export default class RepeatingRunner extends TestRunner {
  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    Object.assign(test, { repeats: Number(process.env.REPEATS) - 1 });
    await super.onBeforeRunTask(test);
  }
}
