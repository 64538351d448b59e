import { inTime } from '../service/inTime.js';
import type { Seen } from './seen.js';

/** Whether a relay works. */
export interface Health {
  /** The process answers. */
  readonly live: true;
  /** The relay can take events: it is not closing, `seen` answers, and so does the service. */
  readonly ready: boolean;
  /** Whether `seen` has answered. */
  readonly seen: boolean;
  /** False while the last five requests to the service, or to `forward`, got no answer, 502, 503 or 504. */
  readonly service: boolean;
}

/** So many failures in a row. One alone may be about the request. */
const FAILURES = 5;
/** How long the last of them counts, in ms. After that the service may be back, and only a request can show it. */
const FAILURE_AGE = 10_000;
/** How long `seen` may take, and how long its answer counts, in ms. */
const LONGEST_PROBE = 1000;
const PROBE_AGE = 1000;

/** Judges a relay by the answers of the service, and by a call of `seen` that changes nothing. */
export const createHealth = (seen: Seen) => {
  let failures = 0;
  let failedAt = 0;
  let probe: { at: number; isThere: Promise<boolean> } | undefined;

  const probeSeen = (): Promise<boolean> => {
    const now = performance.now();
    if (probe && now - probe.at < PROBE_AGE) return probe.isThere;
    const ask = async () => {
      const owner = crypto.randomUUID();
      // An id that no event has. The reservation expires by itself if the release fails.
      await seen.reserve([owner], owner);
      await seen.release([owner], owner);
    };
    const isThere = inTime(ask(), LONGEST_PROBE, 'seen').then(
      () => true,
      () => false,
    );
    probe = { at: now, isThere };
    return isThere;
  };

  return {
    /** Notes an answer of the service, or that there was none. */
    answered(status: number | undefined): void {
      // A 500 may be about the events: pages must not be able to make a relay unready.
      const isFailure = status === undefined || (status >= 502 && status <= 504);
      failures = isFailure ? failures + 1 : 0;
      if (isFailure) failedAt = performance.now();
    },
    async check(isClosing: boolean): Promise<Health> {
      const isThere = await probeSeen();
      const service = failures < FAILURES || performance.now() - failedAt > FAILURE_AGE;
      return { live: true, ready: !isClosing && isThere && service, seen: isThere, service };
    },
  };
};
