import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** One request of a page to the API, and what a fault may do with it. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** The inflated body, which is empty for a fault that is `early`. */
  body: Buffer;
  uuids: string[];
  path: string;
  /** Sends the request, or another body in its place, to the demo. The page does not get the demo's answer. */
  store(body?: Buffer): Promise<Answer>;
  /** Sends the request to the demo and answers with its answer. */
  forward(): Promise<void>;
}

/** Handles a request. An `early` handler is called before the request's body has been read. */
export type Handler = ((exchange: Exchange) => void | Promise<void>) & { early?: boolean };

/** Headers that are for one connection only: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];
const endToEnd = (headers: IncomingHttpHeaders, ...without: string[]): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => ![...HOP_BY_HOP, ...without].includes(name)));

const agent = new Agent({ keepAlive: true });

/** The inflated body. A body that is incomplete counts as empty. */
const inflate = ({ headers }: IncomingMessage, body: Buffer): Buffer => {
  try {
    return headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  } catch {
    return Buffer.alloc(0);
  }
};

const send = (url: URL, request: IncomingMessage, body: Buffer, isOwn: boolean): Promise<Answer> =>
  new Promise((resolve, reject) => {
    // The demo closes a connection that was idle for five seconds. The demo has not read a request that was sent at that moment.
    const again = (error: NodeJS.ErrnoException) =>
      onward.reusedSocket && error.code === 'ECONNRESET'
        ? send(url, request, body, isOwn).then(resolve, reject)
        : reject(error);
    // The page's origin is not the demo's, so the demo would treat the request as one from another origin.
    const without = ['host', 'origin', 'content-length', ...(isOwn ? [] : ['content-encoding'])];
    const headers = endToEnd(request.headers, ...without);
    const onward = open(url, { method: request.method, headers, agent });
    onward.once('error', again);
    onward.once('response', async (answer) => {
      const { statusCode: status = 0 } = answer;
      resolve({ status, headers: endToEnd(answer.headers, 'content-length'), body: await buffer(answer) });
    });
    onward.end(body);
  });

const UUIDS = /"uuid":"([0-9a-f-]{36})"/g;
const uuidsIn = (body: Buffer): string[] => [...body.toString().matchAll(UUIDS)].flatMap(([, uuid]) => uuid ?? []);

/** @param onStored called with the uuids of each request that the demo has answered */
export const createExchange = (
  demo: string,
  request: IncomingMessage,
  response: ServerResponse,
  raw: Buffer,
  onStored: (uuids: string[]) => void,
): Exchange => {
  const url = new URL(request.url ?? '/', demo);
  const store = async (other?: Buffer): Promise<Answer> => {
    // An early fault is called before the body has arrived.
    const own = request.readableEnded ? raw : await buffer(request);
    const answer = await send(url, request, other ?? own, !other);
    onStored(uuidsIn(other ?? inflate(request, own)));
    return answer;
  };
  const body = inflate(request, raw);
  return {
    request,
    response,
    body,
    uuids: uuidsIn(body),
    path: url.pathname,
    store,
    async forward() {
      const answer = await store();
      response.writeHead(answer.status, answer.headers).end(answer.body);
    },
  };
};
