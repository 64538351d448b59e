import { type RequestRecord, textOf } from '../../server/network.ts';
import { type Action, has, hasRefusals } from '../plan.ts';
import { isQuiet } from '../quiet.ts';
import type { Stage } from '../stage.ts';

/** How long (ms) an older request may stay open. The request's failure begins a back-off. */
const CALM = 25_000;
/** Longest time (ms) for which an action of the walk affects requests. */
const SETTLING = 10_000;
/** Share of the interval that the database and the compression of the body may take. */
const SLACK = 0.25;
const DEFAULT_INTERVAL = 3000;
const DEFAULT_MOST = 200;
/** A batch of this many characters may have had no room for more. */
const MANY_CHARACTERS = 20_000;

/** Verbs that do not change the rhythm of requests. */
const QUIET_VERBS: ReadonlySet<Action['verb']> = new Set([
  'track',
  'trackOther',
  'trickle',
  'identify',
  'reset',
  'listen',
]);

/** Whether the request is a batch that had room for more. */
const hasRoom = ({ request }: RequestRecord, most: number): boolean => {
  if (!request.url.endsWith('/api/events/batch/')) return false;
  const text = textOf(request);
  return text.length < MANY_CHARACTERS && (JSON.parse(text).batch as unknown[]).length < most;
};

const isCalm = (stage: Stage, from: number, to: number): boolean =>
  isQuiet(stage, from, to) &&
  stage.history.wasNetworkFair(from - CALM, to) &&
  !stage.acts.some(({ at, verb }) => at >= from - SETTLING && at <= to && !QUIET_VERBS.has(verb));

/**
 * Whether all events of `next` were tracked after `one` was sent. clew sends a backlog at once, also in small requests. An `$identify`
 * has no number, so its time is not known.
 */
const isNew = ({ ledger }: Stage, one: RequestRecord, next: RequestRecord): boolean => {
  const { batch } = JSON.parse(textOf(next.request)) as { readonly batch: readonly { payload?: { n?: number } }[] };
  const events = batch.flatMap(({ payload }) => ledger.tracked.get(payload?.n ?? 0) ?? []);
  return events.length > 0 && events.every(({ at }) => at > one.at);
};

/** Two requests of a page within one `flushInterval`, over a link that was proven, although each had room for the events of both. */
export const breaksTrickle = (stage: Stage, requests: readonly RequestRecord[]): string | undefined => {
  const { plan } = stage;
  if (!has(plan, 'trickle') || has(plan, 'poison') || hasRefusals(plan)) return undefined;
  const interval = Number(plan.dataset.flushInterval ?? DEFAULT_INTERVAL);
  const most = Number(plan.dataset.maxBatchEvents ?? DEFAULT_MOST);
  for (const [index, next] of requests.entries()) {
    const [proof, one] = index < 2 ? [] : requests.slice(index - 2, index);
    if (!proof?.end || !one || proof.end.isFailed || proof.end.at > one.at) continue;
    if (proof.from !== one.from || next.from !== one.from) continue;
    const gap = next.at - one.at;
    if (gap > interval * (1 - SLACK) || !hasRoom(one, most) || !hasRoom(next, most)) continue;
    if (isCalm(stage, one.at, next.at) && isNew(stage, one, next))
      return `${one.from} sends at ${(one.at / 1000).toFixed(3)} s, and again ${gap.toFixed(0)} ms later`;
  }
  return undefined;
};
