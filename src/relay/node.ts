/** What the adapter needs of Node's `http.IncomingMessage`; Express's and Fastify's raw requests are ones, too. */
export interface NodeRequest {
  readonly method?: string | undefined;
  /** Below a mounted router, Express leaves the rest of the path here. */
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  on(event: 'data' | 'end' | 'error', listener: (value?: unknown) => void): unknown;
}

/** What it needs of `http.ServerResponse`. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body?: Uint8Array): unknown;
}

/**
 * Fits a relay, or any handler of web requests, to Node's `http` and to Express. What it serves must not have been read by a
 * body parser before: mount it in front of them.
 *
 * @example
 * http.createServer(toNodeHandler(relay)).listen(8080);
 * app.use('/clew', toNodeHandler(relay)); // Express
 */
export const toNodeHandler =
  (handle: (request: Request) => Promise<Response>) =>
  async (request: NodeRequest, response: NodeResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = request;
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      // HTTP/2 has names that begin with a colon, which are no headers.
      if (value !== undefined && !name.startsWith(':')) headers.set(name, [value].flat().join(', '));
    }
    const hasBody = method !== 'GET' && method !== 'HEAD';
    let answer: Response;
    try {
      const body = hasBody ? { body: toStream(request), duplex: 'half' } : {};
      // The host proves nothing, and decides nothing: a fixed one keeps malformed ones out.
      answer = await handle(
        new Request(new URL(url, 'http://relay.invalid'), { method, headers, ...body } as RequestInit),
      );
    } catch {
      answer = new Response(null, { status: 400 });
    }
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(new Uint8Array(await answer.arrayBuffer()));
  };

/** What comes after the reader has had enough is read and thrown away: it stands before the next request of its connection. */
const toStream = (request: NodeRequest): ReadableStream<Uint8Array> => {
  let isWanted = true;
  return new ReadableStream({
    start(controller) {
      request.on('data', (chunk) => isWanted && controller.enqueue(chunk as Uint8Array));
      request.on('end', () => isWanted && controller.close());
      request.on('error', (error) => isWanted && controller.error(error));
    },
    cancel() {
      isWanted = false;
    },
  });
};
