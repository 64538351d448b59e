import { hasEvent } from './repeatChecks.ts';
import { sendingsOf } from './sent.ts';
import type { Stage } from './stage.ts';
import { mayBeTakenBack } from './unsaved.ts';

/** Reasons why an event may reach a service twice, as the docs name them. A relay drops the second copy. */
export const REPEATED = {
  left: ' (its page left with the first copy)',
  tabs: ' (two tabs had it)',
  back: ' (its page came back from the cache and left at once)',
  crash: ' (a crash brought it back)',
  disk: ' (its row could not be deleted)',
} as const;

/** Time (ms) after which another tab knows that an event is confirmed. */
const SETTLING = 300;

/** How long (ms) a fault of the disk affects clew after its end. */
const CALM = 5000;

/** The reason why an event was confirmed twice, or '' if no reason explains it. */
export const whyRepeated = (stage: Stage, uuid: string): string => {
  const { history, browser } = stage;
  const copies = sendingsOf(stage).flatMap(({ record, uuids }) => (uuids.includes(uuid) ? record : []));
  const [first] = copies.filter(({ end }) => end && !end.isFailed);
  if (!first) return '';
  const end = first.end?.at ?? first.at;
  const isLeft = copies.some(({ from, at, end }) => {
    const left = Math.min(history.departureOf(from, at), history.stopOf(from));
    return left <= (end?.at ?? at);
  });
  if (isLeft) return REPEATED.left;
  const [second] = copies.filter(({ at }) => at > first.at);
  if (second && history.loadOf(second.from) < end + SETTLING) return REPEATED.tabs;
  // The page journals its events again, because it has no answer from the database yet.
  const isBack = ({ at }: typeof first) =>
    history
      .restored(end, at)
      .some(
        (page) =>
          history.departureOf(page, end) <= at &&
          browser.writes.some(
            (write) => write.page === page && write.at >= end && write.at <= at && hasEvent(write, uuid),
          ),
      );
  if (second && isBack(second)) return REPEATED.back;
  if (mayBeTakenBack(stage, end)) return REPEATED.crash;
  // A page whose database did not answer can delete no row, also after the fault of the disk.
  const isShut = history.shut.has(first.from);
  return !isShut && history.wasDiskFair(first.at - CALM, end + CALM) ? '' : REPEATED.disk;
};
