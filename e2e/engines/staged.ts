import { test as base, expect } from '../faults/support/fault.ts';
import { openStage, type Stage } from '../faults/support/stage.ts';

/** A site of the test's own, in the project's engine. In the end, no event may be lost and no error may be on the console. */
export const test = base.extend<{ stage: Stage }>({
  stage: async ({ collector, shared }, use) => {
    await collector.clear();
    const { stage, finish, close } = await openStage(await shared(), collector, 45_000);
    try {
      await use(stage);
      expect(await finish()).toMatchObject({ survived: true, details: [] });
    } finally {
      await close();
    }
  },
});

export { expect };
