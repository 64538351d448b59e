import {
  BATCH_PATH,
  EVENT_PATH,
  eventFault,
  isObject,
  joinUrl,
  type Rejections,
  UPSERT_PATH,
  type WireEvent,
} from '../wire.js';

/** What a request asks for, checked: what the service is to be sent, and what not. */
export interface Job {
  readonly url: string;
  /** JSON; undefined when nothing good is left to send. */
  readonly body: string | undefined;
  /** Ids of the events in it. */
  readonly uuids: readonly string[];
  readonly rejected: Rejections['rejected'];
}

/** Where jobs go. */
export interface Destinations {
  readonly baseUrl: string;
  readonly eventsUrl: string;
  readonly allowUnsignedUpsert: boolean;
  /** Whether the service has taken this event already. */
  isRepeat(uuid: string): boolean;
}

/** An answer that ends a request early. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The body's text, read no further than `limit` bytes: what a request says of its own length proves nothing. */
export const readText = async (request: Request, limit: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > limit) throw new Refusal(413, `expected a body of at most ${limit} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(await new Blob(chunks as BlobPart[]).arrayBuffer());
};

export const parse = (text: string): Record<string, unknown> => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `expected JSON: ${error}`);
  }
  if (!isObject(body)) throw new Refusal(400, 'expected a JSON object');
  return body;
};

/** Only what the contract knows goes on to the service. */
const onlyKnown = ({ uuid, timestamp, event, source, correlationKey, correlationValue, payload }: WireEvent) => ({
  uuid,
  timestamp,
  event,
  source,
  correlationKey,
  correlationValue,
  payload,
});

const sift = (events: readonly unknown[], isRepeat: Destinations['isRepeat']) => {
  const good: ReturnType<typeof onlyKnown>[] = [];
  const rejected: Rejections['rejected'] = [];
  for (const event of events) {
    const reason = eventFault(event);
    if (reason) rejected.push({ uuid: isObject(event) && typeof event.uuid === 'string' ? event.uuid : '', reason });
    else if (!isRepeat((event as WireEvent).uuid)) good.push(onlyKnown(event as WireEvent));
  }
  return { good, rejected, uuids: good.flatMap(({ uuid }) => uuid ?? []) };
};

const checkUpsert = (body: Record<string, unknown>, isAllowed: boolean) => {
  const { primary_key, properties } = body;
  if (!isAllowed) throw new Refusal(422, 'this relay takes no customer properties from pages (allowUnsignedUpsert)');
  if (typeof primary_key !== 'string' || !primary_key) {
    throw new Refusal(400, 'primary_key: expected a non-empty string');
  }
  if (properties !== undefined && !isObject(properties)) throw new Refusal(400, 'properties: expected an object');
  return { primary_key, properties };
};

/** What a request to `path` asks for. Throws a `Refusal` that says what was expected. */
export const jobOf = (path: string, body: Record<string, unknown>, to: Destinations): Job => {
  const isAt = (known: string) => joinUrl(path, '/').endsWith(joinUrl(known, '/'));
  if (isAt(UPSERT_PATH)) {
    const upsert = checkUpsert(body, to.allowUnsignedUpsert);
    return { url: joinUrl(to.baseUrl, UPSERT_PATH), body: JSON.stringify(upsert), uuids: [], rejected: [] };
  }
  if (isAt(BATCH_PATH)) {
    if (!Array.isArray(body.batch)) throw new Refusal(400, 'batch: expected an array of events');
    const { good, rejected, uuids } = sift(body.batch, to.isRepeat);
    return {
      url: joinUrl(to.baseUrl, BATCH_PATH),
      body: good.length ? JSON.stringify({ batch: good }) : undefined,
      uuids,
      rejected,
    };
  }
  if (isAt(EVENT_PATH)) {
    const { good, rejected, uuids } = sift([body], to.isRepeat);
    const event = good[0] && JSON.stringify({ ...good[0], timestamp: undefined });
    return { url: joinUrl(to.eventsUrl, EVENT_PATH), body: event, uuids, rejected };
  }
  throw new Refusal(404, 'no such path; there are /api/customers/upsert, /api/events/batch/ and /events/');
};
