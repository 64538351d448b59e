import { type NetworkRequest, type RequestRecord, textOf } from '../server/network.ts';
import type { Stage } from './stage.ts';

interface SentEvent {
  readonly uuid?: string;
}

/** A request of a page, and the ids of the events in it. */
export interface Sending {
  readonly record: RequestRecord;
  readonly uuids: readonly string[];
}

const uuidsIn = (request: NetworkRequest): string[] => {
  const body = JSON.parse(textOf(request)) as SentEvent & { readonly batch?: readonly SentEvent[] };
  return (body.batch ?? [body]).flatMap(({ uuid }) => uuid ?? []);
};

/** What pages have sent, in order. */
export const sendingsOf = ({ network }: Stage): Sending[] =>
  network.requests
    .filter(({ from }) => from.startsWith('page'))
    .map((record) => ({ record, uuids: uuidsIn(record.request) }));
