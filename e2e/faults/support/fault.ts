import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from '@playwright/test';
import { type Demo, startDemo } from '../../support/demo.ts';
import { ENGINES, LONG, PROMISE } from '../../support/tags.ts';
import { type Engine, type EngineName, openEngine } from '../engines/engine.ts';
import { openStage, type Stage } from './stage.ts';
import { type RunVerdict, showBroken, summarise } from './verdict.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface FaultOptions {
  /** Engines in which the fault cannot be made, and why. */
  cannot?: Partial<Record<EngineName, string>>;
  /** @default `FAULT_RUNS`, or 1 */
  runs?: number;
  /** How long settling may take, in ms: longer than a lease, which a page that crashed while sending still holds. */
  patience?: number;
  /** How long one run may take, in ms. @default the configuration's */
  timeout?: number;
  /** Left out unless `TEST_ALL` is set. */
  isLong?: boolean;
  /** Files of tests or walks of `npm test` that show the same. The fault is left out unless `TEST_ALL` is set. */
  shownBy?: readonly string[];
  /** The outcome depends on the engine: without `TEST_ALL`, Firefox and WebKit play these faults only. */
  isEngines?: boolean;
  /** The fault's expectations are promises, too: to leave nothing after a refusal, for instance. */
  isPromise?: boolean;
}

export interface WorkerFixtures {
  engine: EngineName;
  collector: Demo;
  /** The worker's browser, which is opened again if it has died. */
  shared: () => Promise<Engine>;
}

export const test = base.extend<object, WorkerFixtures>({
  engine: ['chromium', { option: true, scope: 'worker' }],
  collector: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for a pattern
    async ({}, use) => {
      const collector = await startDemo();
      await use(collector);
      await collector.stop();
    },
    { scope: 'worker' },
  ],
  shared: [
    async ({ engine }, use) => {
      const profile = await mkdtemp(join(tmpdir(), 'clew-faults-'));
      let browser: Engine | undefined;
      await use(async () => {
        if (!browser?.isAlive()) browser = await openEngine(engine, profile);
        return browser;
      });
      await browser?.kill();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
    { scope: 'worker' },
  ],
});

const play = async (
  act: (stage: Stage) => Promise<void>,
  shared: Engine,
  collector: Demo,
  patience: number,
): Promise<RunVerdict> => {
  await collector.fault({ mode: 'none' });
  await collector.clear();
  const { stage, finish, fail, close } = await openStage(shared, collector, patience);
  try {
    await act(stage);
    return await finish();
  } catch (error) {
    return await fail(error);
  } finally {
    await close();
  }
};

/**
 * Faults of crashes, tabs, network, answers and input, for which no browser is needed. In `npm test` the walks and the tests of courier,
 * recorder and visitor show them, and with `TEST_ALL` a browser does, too.
 */
const SHOWN_IN_NODE = [3, 4, 17, 20, 21, 24, 25, 26, 28, 30, 36, 37, 38, 45, 46, 49, 53];

const tagsOf = (number: number, { isLong, shownBy, isEngines, isPromise }: FaultOptions): string[] => [
  ...(isLong || shownBy || SHOWN_IN_NODE.includes(number) ? [LONG] : []),
  ...(isEngines ? [ENGINES] : []),
  ...(isPromise ? [PROMISE] : []),
];

/** One test: plays the fault in the project's browser, settles, and judges by the ledger. */
export const fault = (
  number: number,
  title: string,
  act: (stage: Stage) => Promise<void>,
  options: FaultOptions = {},
): void => {
  const { cannot = {}, runs = Number(process.env.FAULT_RUNS ?? 1), patience = 45_000, timeout, shownBy = [] } = options;
  const missing = shownBy.find((file) => !existsSync(join(ROOT, file)));
  if (missing) throw new Error(`fault ${number}: shownBy: expected a test, but there is no ${missing}`);
  test(`${number} ${title}`, { tag: tagsOf(number, options) }, async ({ engine, collector, shared }, testInfo) => {
    // The table at the end names the fault and the reason.
    test.skip(cannot[engine] !== undefined, cannot[engine] ?? '');
    test.setTimeout(runs * (timeout ?? testInfo.timeout));
    const verdicts: RunVerdict[] = [];
    for (let run = 0; run < runs; run++) verdicts.push(await play(act, await shared(), collector, patience));
    const verdict = summarise(number, verdicts);
    testInfo.annotations.push({ type: 'verdict', description: JSON.stringify(verdict) });
    if (verdict.survived < runs) {
      throw new Error(`survived ${verdict.survived} of ${runs}, ${showBroken(verdict)}\n${verdict.details.join('\n')}`);
    }
  });
};

export { expect } from '../../support/expect.ts';
