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
}
/** A `ReadableStream` is an `AsyncIterable`, but the types of browsers lack that. */
type Body = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The tracker's beacons are text/plain, a type that needs no preflight. */
export const isBeacon = ({ headers }: RelayRequest): boolean => /^text\/plain/i.test(headers.get('Content-Type') ?? '');

/** A body of one piece, as most are, is not copied. */
const joined = (chunks: readonly Uint8Array[], bytes: number): Uint8Array => {
  if (chunks[0]?.length === bytes) return chunks[0];
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
};

type Chunks = AsyncIterable<Uint8Array>;
type Count = (bytes: number, chunk: Uint8Array) => number;

/** Counts the compressed bytes, too: any amount of gzip can inflate to nothing. */
const inflated = (body: Chunks, count: Count): Chunks => {
  const { readable, writable } = new DecompressionStream('gzip');
  const writer = writable.getWriter();
  const feed = async () => {
    let bytes = 0;
    for await (const chunk of body) {
      bytes = count(bytes, chunk);
      await writer.write(chunk as Uint8Array<ArrayBuffer>);
    }
    await writer.close();
  };
  // The error reaches the reader through the aborted stream.
  feed().catch((error) => writer.abort(error).catch(() => {}));
  return readable as unknown as Chunks;
};

/**
 * The body's text, inflated and read no further than `limit` bytes: `Content-Length` proves nothing, and a few bytes of gzip
 * can inflate to gigabytes.
 */
const readText = async ({ headers, body }: RelayRequest, limit: number): Promise<string> => {
  const encoding = headers.get('Content-Encoding') ?? 'identity';
  if (!/^(gzip|identity)$/i.test(encoding)) throw new Refusal(415, `Content-Encoding: expected gzip, got ${encoding}`);
  const count: Count = (bytes, chunk) => {
    if (bytes + chunk.length > limit) throw new Refusal(413, `expected a body of at most ${limit} bytes`);
    return bytes + chunk.length;
  };
  const came = (body ?? []) as Chunks;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of /gzip/i.test(encoding) ? inflated(came, count) : came) {
    bytes = count(bytes, chunk);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(joined(chunks, bytes));
};

/** The JSON object in a request's body. */
export const readBody = async (request: RelayRequest, limit: number): Promise<Record<string, unknown>> => {
  if (request.method !== 'POST') throw new Refusal(405, `expected POST, got ${request.method}`);
  const type = request.headers.get('Content-Type') ?? '';
  if (!/^(application\/json|text\/plain)\s*(;|$)/i.test(type)) {
    throw new Refusal(415, `Content-Type: expected application/json or text/plain, got ${type || 'none'}`);
  }
  const text = await readText(request, limit);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `expected JSON: ${error}`);
  }
  if (!isObject(body)) throw new Refusal(400, 'expected a JSON object');
  return body;
};
