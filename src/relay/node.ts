import { RELAY_HEADER } from '../wire.js';
import type { ConnectionInfo } from './address.js';
import { MOUNT_BEFORE, type RelayRequest } from './request.js';

/** The part of Node's `http.IncomingMessage` that the adapter uses. Requests of HTTP/2, Express and Fastify (`raw`) fit, too. */
export interface NodeRequest {
  readonly method?: string | undefined;
  /** Below a mounted router, Express puts the rest of the path here. */
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The socket's other end is the client, or the last proxy. */
  readonly socket?: { readonly remoteAddress?: string | undefined };
  readonly destroyed?: boolean;
  readonly readableEnded?: boolean;
  readonly readableDidRead?: boolean;
  /** The result of a body parser. */
  readonly body?: unknown;
  on(event: 'data' | 'end' | 'error' | 'close', listener: (value?: unknown) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** The part of Node's `http.ServerResponse` that the adapter uses. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(): unknown;
  end(body: Uint8Array): unknown;
  /** Present for a request of HTTP/2, which has no header `Connection`. */
  readonly stream?: { close(): unknown };
}

/** Bytes of an unwanted body that are read and thrown away. After that the connection is cut. */
const MOST_DROPPED = 4_194_304;

/**
 * Adapts a relay to Node's `http`, `https` and `http2`, and to Express. Mount it in front of body parsers: once they have read
 * a body, the adapter can only use `request.body`, and answers 500 without it.
 *
 * @example
 * http.createServer(toNodeHandler(relay)).listen(8080);
 * app.use('/clew', toNodeHandler(relay)); // Express
 */
export const toNodeHandler =
  (relay: (request: RelayRequest, connection: ConnectionInfo) => Promise<Response>) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const isRead = request.readableEnded || request.readableDidRead;
    const { chunks, drop } = openBody(request);
    let answer: Response;
    if (isRead && request.body === undefined)
      answer = Response.json(
        { error: MOUNT_BEFORE },
        { status: 500, headers: { [RELAY_HEADER]: '1', 'X-Content-Type-Options': 'nosniff' } },
      );
    else {
      // A connection that was reset has no address any more. All of these share one bucket.
      const connection = { address: request.socket?.remoteAddress ?? 'unknown' };
      answer = await relay(toRequest(request, isRead ? parsedBody(request) : chunks, isRead), connection);
    }
    const body = answer.body ? new Uint8Array(await answer.arrayBuffer()) : undefined;
    // A time-out of the app may have answered in the meantime.
    if (!response.headersSent) {
      response.statusCode = answer.status;
      const { stream } = response;
      for (const [name, value] of answer.headers) if (!stream || name !== 'connection') response.setHeader(name, value);
      // Without a body, Node writes the head alone, in one piece.
      if (body) response.end(body);
      else response.end();
      // After the answer: the rest of the body may never come.
      if (stream && answer.headers.has('Connection')) stream.close();
    }
    drop();
  };

type Chunks = AsyncIterable<Uint8Array>;

async function* parsedBody({ body }: NodeRequest) {
  const isBytes = body instanceof Uint8Array;
  yield isBytes ? body : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Not a `Request`: creating one with its stream costs more than the relay's own work. */
const toRequest = (
  { method = 'GET', url = '/', headers }: NodeRequest,
  body: Chunks,
  isRead = false,
): RelayRequest => ({
  method,
  // The relay ignores the host, and a malformed `Host` header would make `new URL` throw.
  url: `http://relay.invalid/${url.replace(/^(https?:\/\/[^/?#]*)?\/?/i, '')}`,
  headers: {
    get(name) {
      // Body parsers have already inflated the body.
      if (isRead && name === 'Content-Encoding') return null;
      return headers[name.toLowerCase()]?.toString() ?? null;
    },
  },
  body,
});

/**
 * A body that is read only as fast as the relay reads it. The rest of it is thrown away, because the connection's next request
 * stands behind it.
 */
const openBody = (request: NodeRequest) => {
  const waiting: Uint8Array[] = [];
  let isWanted = true;
  let dropped = 0;
  let end: 'ended' | 'broken' | undefined;
  let wake = () => {};
  const finish = (how: 'ended' | 'broken') => () => {
    end ??= how;
    wake();
  };
  const drop = (): void => {
    isWanted = false;
    request.resume();
  };
  const take = (chunk: Uint8Array) => {
    if (!isWanted) dropped += chunk.length;
    if (dropped > MOST_DROPPED) request.destroy();
    if (!isWanted) return;
    waiting.push(chunk);
    request.pause();
    wake();
  };
  async function* chunks() {
    try {
      for (;;) {
        const chunk = waiting.shift();
        if (chunk) yield chunk;
        else if (end === 'ended') return;
        else if (end) throw new Error('the request was aborted');
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
            request.resume();
          });
      }
    } finally {
      drop();
    }
  }
  request.pause();
  request.on('data', (chunk) => take(chunk as Uint8Array));
  request.on('end', finish('ended'));
  for (const event of ['error', 'close'] as const) request.on(event, finish('broken'));
  if (request.destroyed) finish('broken')();
  return { chunks: chunks(), drop };
};
