import { isObject } from '../wire.js';

/** An answer that ends a request early. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Seconds or a date, as in the header. */
    readonly retryAfter?: number | string,
    /** The service's own status: a tracker bisects after a 500 of the service, and not after a 502. */
    readonly serviceStatus?: number,
  ) {
    super(message);
  }
}

/** The part of a request that the relay reads. Every `Request` is one. */
export interface RelayRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: Body | null;
  /** Whether something has read the body before. The relay then answers 500. */
  readonly bodyUsed?: boolean;
}
/** A `ReadableStream` is an `AsyncIterable`, but the types of browsers lack that. */
type Body = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The tracker's beacons are text/plain, a type that needs no preflight. */
export const isBeacon = ({ headers }: RelayRequest): boolean => /^text\/plain/i.test(headers.get('Content-Type') ?? '');

/** The cause of a request whose body is gone. The page is not at fault, so the status is 500. */
export const MOUNT_BEFORE = 'the body has been read already: mount the relay before body parsers';

/** A reader that has not read yet holds a lock only. */
const isRead = ({ body, bodyUsed }: RelayRequest): boolean =>
  bodyUsed === true || (body !== null && 'locked' in body && body.locked);

type Chunks = AsyncIterable<Uint8Array>;

/**
 * All bytes, read no further than `limit`: `Content-Length` proves nothing. The bytes are in one buffer that grows, because a
 * hundred thousand chunks of one byte would need 25 MB.
 */
const readAll = async (chunks: Chunks, limit: number): Promise<Uint8Array> => {
  let all: Uint8Array = new Uint8Array(0);
  let bytes = 0;
  for await (const chunk of chunks) {
    const after = bytes + chunk.length;
    if (after > limit) throw new Refusal(413, `expected a body of at most ${limit} bytes`);
    // Most bodies arrive as one chunk, which needs no copy.
    if (bytes === 0) all = chunk;
    else {
      if (after > all.length) {
        const grown = new Uint8Array(Math.min(Math.max(after, 2 * all.length), limit));
        grown.set(all.subarray(0, bytes));
        all = grown;
      }
      all.set(chunk, bytes);
    }
    bytes = after;
  }
  return all.subarray(0, bytes);
};

/** Receives why this runtime cannot do what a request needs. The `Refusal` then keeps the page's events. */
type OnError = (error: unknown) => void;

const createInflater = (onError: OnError): DecompressionStream => {
  try {
    return new DecompressionStream('gzip');
  } catch (error) {
    onError(error);
    // Not every runtime has it: https://developer.mozilla.org/en-US/docs/Web/API/DecompressionStream#browser_compatibility
    throw new Refusal(503, 'this relay cannot inflate gzip', 1);
  }
};

const inflated = (packed: Uint8Array, onError: OnError): Chunks => {
  const { readable, writable } = createInflater(onError);
  const writer = writable.getWriter();
  const feed = async () => {
    await writer.write(packed as Uint8Array<ArrayBuffer>);
    await writer.close();
  };
  // The error reaches the reader through the stream.
  feed().catch(() => {});
  return readable as unknown as Chunks;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body's text, inflated. A few bytes of gzip can inflate to gigabytes, and any amount of gzip to nothing: both are bounded. */
const readText = async (
  { headers, body }: RelayRequest,
  limit: number,
  take: (bytes: number) => void,
  onError: OnError,
): Promise<string> => {
  const encoding = headers.get('Content-Encoding') ?? 'identity';
  if (!/^(gzip|identity)$/i.test(encoding)) throw new Refusal(415, `Content-Encoding: expected gzip, got ${encoding}`);
  const came = await readAll((body ?? []) as Chunks, limit);
  const bytes = /gzip/i.test(encoding) ? await readAll(inflated(came, onError), limit) : came;
  take(bytes.length);
  try {
    // Each byte that is not UTF-8 would become U+FFFD, which has three.
    return utf8.decode(bytes);
  } catch {
    throw new Refusal(400, 'expected UTF-8');
  }
};

/**
 * The JSON object in a request's body.
 *
 * @param take is called once so many bytes have arrived, and may throw. A client that is slow takes nothing from the others
 * @param onError receives why this runtime cannot inflate
 */
export const readBody = async (
  request: RelayRequest,
  limit: number,
  take: (bytes: number) => void,
  onError: OnError,
): Promise<Record<string, unknown>> => {
  if (request.method !== 'POST') throw new Refusal(405, `expected POST, got ${request.method}`);
  const type = request.headers.get('Content-Type') ?? '';
  if (!/^(application\/json|text\/plain)\s*(;|$)/i.test(type)) {
    throw new Refusal(415, `Content-Type: expected application/json or text/plain, got ${type || 'none'}`);
  }
  if (isRead(request)) throw new Refusal(500, MOUNT_BEFORE);
  const text = await readText(request, limit, take, onError);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `expected JSON: ${error}`);
  }
  if (!isObject(body)) throw new Refusal(400, 'expected a JSON object');
  return body;
};
