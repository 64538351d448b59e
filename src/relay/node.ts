/** What the adapter needs of Node's `http.IncomingMessage`; those of HTTP/2, Express and Fastify (`raw`) fit, too. */
export interface NodeRequest {
  readonly method?: string | undefined;
  /** Below a mounted router, Express leaves the rest of the path here. */
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly destroyed?: boolean;
  readonly readableEnded?: boolean;
  readonly readableDidRead?: boolean;
  /** What a body parser has made of the body. */
  readonly body?: unknown;
  on(event: 'data' | 'end' | 'error' | 'close', listener: (value?: unknown) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

/** What it needs of `http.ServerResponse`. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(body: Uint8Array): unknown;
}

const MOUNT_BEFORE = 'the body has been read already: mount the relay before body parsers';
const NOTHING = new Uint8Array(0);
/** As much as is read, and thrown away, of a body nobody wants: then the connection is cut. */
const MOST_DROPPED = 4_194_304;

/**
 * Fits a relay to Node's `http`, `https` and `http2`, and to Express. Mount it in front of body parsers: of what they have
 * read, only what they left in `request.body` can be taken.
 *
 * @example
 * http.createServer(toNodeHandler(relay)).listen(8080);
 * app.use('/clew', toNodeHandler(relay)); // Express
 */
export const toNodeHandler =
  (handle: (request: Request) => Promise<Response>) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const isRead = request.readableEnded || request.readableDidRead;
    const { stream, drop } = openBody(request);
    let answer: Response;
    try {
      if (isRead && request.body === undefined) answer = refuse(500, MOUNT_BEFORE);
      else answer = await handle(toRequest(request, isRead ? parsedBody(request) : stream));
    } catch {
      answer = refuse(400, 'expected a request that can be read');
    }
    const body = answer.body ? new Uint8Array(await answer.arrayBuffer()) : NOTHING;
    // A time-out of the app's own may have answered meanwhile.
    if (!response.headersSent) {
      response.statusCode = answer.status;
      for (const [name, value] of answer.headers) response.setHeader(name, value);
      response.end(body);
    }
    drop();
  };

const refuse = (status: number, error: string): Response => Response.json({ error }, { status });

const parsedBody = ({ body }: NodeRequest): BodyInit =>
  typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body);

const toRequest = ({ method = 'GET', url = '/', headers: came }: NodeRequest, body: BodyInit): Request => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(came)) {
    // HTTP/2 has names that begin with a colon, which are no headers.
    if (value !== undefined && !name.startsWith(':')) headers.set(name, [value].flat().join(', '));
  }
  // Body parsers have inflated what they have read.
  if (!(body instanceof ReadableStream)) headers.delete('Content-Encoding');
  // The host proves nothing, and decides nothing: a fixed one, before a path, keeps malformed ones out.
  const address = `http://relay.invalid/${url.replace(/^(https?:\/\/[^/?#]*)?\/?/i, '')}`;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(address, { method, headers, ...(hasBody && { body, duplex: 'half' }) } as RequestInit);
};

/**
 * A body that is read no faster than the handler does. What the handler leaves of it is thrown away, since the next request
 * of the connection stands behind it.
 */
const openBody = (request: NodeRequest) => {
  let isWanted = true;
  let dropped = 0;
  const drop = (): void => {
    isWanted = false;
    request.resume();
  };
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const settle = (how: () => void) => {
      if (isWanted) how();
      isWanted = false;
    };
    const breakOff = () => settle(() => controller.error(new Error('it broke off')));
    const take = (chunk: Uint8Array) => {
      if (!isWanted) dropped += chunk.length;
      if (dropped > MOST_DROPPED) request.destroy();
      if (!isWanted) return;
      controller.enqueue(chunk);
      request.pause();
    };
    request.pause();
    request.on('data', (chunk) => take(chunk as Uint8Array));
    request.on('end', () => settle(() => controller.close()));
    for (const event of ['error', 'close'] as const) request.on(event, breakOff);
    if (request.destroyed) breakOff();
  };
  const pull = () => void request.resume();
  return { stream: new ReadableStream({ start, pull, cancel: drop }, { highWaterMark: 0 }), drop };
};
