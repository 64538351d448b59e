import type { SeenRequest } from './site.ts';
import type { Stage } from './stage.ts';

/** An event that was sent again, although the service had confirmed it. */
interface Needless {
  uuid: string;
  /** Each request with it: its page, start and end of its exchange in ms since the first one, and its status. */
  requests: string[];
}

const isConfirmed = ({ status }: SeenRequest) => status !== undefined && status < 300;

/**
 * Events that the pages sent again after they had been confirmed. The documentation allows duplicates only if an answer was lost.
 * Such duplicates are left out here.
 */
export const needlessRepeats = ({ site: { requests } }: Stage): Needless[] => {
  const start = requests[0]?.at ?? 0;
  const show = ({ at, answeredAt, status, page }: SeenRequest) =>
    `${page} ${at - start} to ${answeredAt ? answeredAt - start : '…'}: ${status ?? 'no answer'}`;
  const uuids = new Set(requests.flatMap((request) => request.uuids));
  return [...uuids].flatMap((uuid) => {
    const own = requests.filter((request) => request.uuids.includes(uuid));
    const last = own.at(-1)?.at ?? 0;
    const isNeedless = own.slice(0, -1).some((one) => isConfirmed(one) && (one.answeredAt ?? last) < last);
    return isNeedless ? { uuid, requests: own.map(show) } : [];
  });
};
