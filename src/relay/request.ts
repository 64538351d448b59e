import { isObject } from '../wire.js';

/** An answer that ends a request early. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Seconds or a date, as in the header. */
    readonly retryAfter?: number | string,
    /** What the service itself answered: a tracker takes its 500, not a 502, for the mark of an event that is refused. */
    readonly serviceStatus?: number,
  ) {
    super(message);
  }
}

/** What is read of a request. Every `Request` is one. */
export interface RelayRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: Body | null;
}
/** A `ReadableStream` is one, but the types of browsers do not say so. */
type Body = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** A beacon's text is of type text/plain: a type that needs no preflight. */
export const isBeacon = ({ headers }: RelayRequest): boolean => /^text\/plain/i.test(headers.get('Content-Type') ?? '');

/** A body that came in one piece, as most do, is not copied. */
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

/** Counts what goes in, too: any amount of gzip can inflate to nothing. */
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
  // Whoever reads hears of it.
  feed().catch((error) => writer.abort(error).catch(() => {}));
  return readable as unknown as Chunks;
};

/**
 * The body's text, inflated and read no further than `limit` bytes: what a request says of its own length proves nothing,
 * and a few bytes can inflate to gigabytes.
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
  if (request.method !== 'POST') throw new Refusal(405, 'expected POST');
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
