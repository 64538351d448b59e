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

/** A beacon's text is of type text/plain: a type that needs no preflight. */
export const isBeacon = (request: Request): boolean => /^text\/plain/i.test(request.headers.get('Content-Type') ?? '');

type Body = ReadableStream<Uint8Array> | null;

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

/** Counts what goes in, too: any amount of gzip can inflate to nothing. */
const inflated = (body: Body, count: (bytes: number, chunk: Uint8Array) => number): Body => {
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes = count(bytes, chunk);
      controller.enqueue(chunk);
    },
  });
  const inflating = new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>;
  return body && body.pipeThrough(counting).pipeThrough(inflating);
};

/**
 * The body's text, inflated and read no further than `limit` bytes: what a request says of its own length proves nothing,
 * and a few bytes can inflate to gigabytes.
 */
const readText = async (request: Request, limit: number): Promise<string> => {
  const encoding = request.headers.get('Content-Encoding') ?? 'identity';
  if (!/^(gzip|identity)$/i.test(encoding)) throw new Refusal(415, `Content-Encoding: expected gzip, got ${encoding}`);
  const count = (bytes: number, chunk: Uint8Array): number => {
    if (bytes + chunk.length > limit) throw new Refusal(413, `expected a body of at most ${limit} bytes`);
    return bytes + chunk.length;
  };
  const body = /gzip/i.test(encoding) ? inflated(request.body, count) : request.body;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes = count(bytes, chunk);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(joined(chunks, bytes));
};

/** The JSON object in a request's body. */
export const readBody = async (request: Request, limit: number): Promise<Record<string, unknown>> => {
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
