import { MOST_LAG } from '../browser/tabStorage.ts';
import { hasForged } from './callsChecks.ts';
import type { Tracked } from './ledger.ts';
import { isExcused } from './losses.ts';
import { has, hasFaults, hasRefusals } from './plan.ts';
import type { Stage } from './stage.ts';

/** How long (ms) after `identify` a crash may lose what it has released. */
const CRASH = 2000;

/** Whether the page that identifies the person reports that it has no room for the properties. Other checks look at its count. */
const isReportedFull = ({ history }: Stage, { page, at }: Pick<Tracked, 'page' | 'at'>): boolean =>
  history.overflows.some((report) => report.page === page && report.at >= at && report.at <= at + CRASH);

/** Whether another tab sets properties at the same moment. Each tab writes without those of the other, whose write it does not see yet. */
const isOverwritten = ({ plan, ledger }: Stage, { page, at }: Tracked): boolean =>
  !!plan.features.hasLag &&
  [...ledger.tracked.values()].some(
    (other) => other.name === 'early' && other.page !== page && Math.abs(other.at - at) <= MOST_LAG,
  );

/** Whether properties of an anonymous visitor must reach the person who is identified next. */
const mustArrive = (stage: Stage, event: Tracked): boolean => {
  const { plan, ledger, history } = stage;
  const next = ledger.next(event);
  if (event.name !== 'early' || event.isEarly || !next?.person || isExcused(stage, event)) return false;
  return (
    !plan.npm?.hasOther &&
    !has(plan, 'kill') &&
    !hasRefusals(plan) &&
    !hasForged(stage) &&
    !(plan.isDirect && hasFaults(plan)) &&
    !history.refused.has(next.page) &&
    !isReportedFull(stage, next) &&
    !isOverwritten(stage, event) &&
    history.wasDiskFair(event.at - CRASH, next.at + CRASH) &&
    history.wasClockFair(event.at, Number.POSITIVE_INFINITY) &&
    history.departureOf(next.page, next.at) > next.at + CRASH
  );
};

/** Properties that were set before `identify`, and that the customer has not got. */
export const findLostEarly = (stage: Stage): string | undefined => {
  const { ledger, service } = stage;
  const lost = [...ledger.tracked.values()].find((event) => !service.upserted.has(event.n) && mustArrive(stage, event));
  return lost && `properties ${lost.n} of ${lost.page}, set at ${(lost.at / 1000).toFixed(3)} s`;
};
