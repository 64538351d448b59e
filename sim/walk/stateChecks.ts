import type { Page } from '../browser/page.ts';
import { findExcess, findSurplus } from './boundChecks.ts';
import { INVARIANTS } from './checks.ts';
import { findAfterRefusal, findBeforeConsent } from './consentChecks.ts';
import { findPremature } from './hidden.ts';
import { checkIdle } from './idleCheck.ts';
import { accountsOf } from './npm/app.ts';
import { findMiscount } from './signalChecks.ts';
import type { Stage } from './stage.ts';

/** Runs after each task of the page: checks its counts and signals, and that it has not acted before consent. */
export const checkPage = (stage: Stage, page: Page): void => {
  const { world } = stage;
  const early = findBeforeConsent(stage);
  if (early) world.break(INVARIANTS.before, `${page.name}: ${early}`);
  if (page.state !== 'running') return;
  for (const { stats, filtered } of accountsOf(page)) {
    const dropped = Object.values(stats.dropped).reduce((sum, count) => sum + count, 0);
    const isRight = stats.tracked === stats.delivered + stats.queued + dropped && stats.queued >= 0;
    if (!isRight || (stats.dropped.filtered ?? 0) !== filtered)
      world.break(INVARIANTS.account, `${page.name}: ${JSON.stringify(stats)}, ${filtered} filtered`);
  }
  const miscount = findMiscount(stage, page);
  if (miscount) world.break(INVARIANTS.counted, miscount);
};

/** Runs after each task: checks states that may be wrong for a moment, and that a later check at the end would not see. */
export const checkState = (stage: Stage): void => {
  const found: Partial<Record<keyof typeof INVARIANTS, string | undefined>> = {
    ...checkIdle(stage),
    left: findAfterRefusal(stage),
    bounds: findExcess(stage),
    prerendered: findPremature(stage),
    stored: findSurplus(stage),
  };
  for (const [name, detail] of Object.entries(found))
    if (detail) stage.world.break(INVARIANTS[name as keyof typeof INVARIANTS], detail);
};
