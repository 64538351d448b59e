/** The service's answer with its body, so that no later step can fail on it. */
export interface Sent {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** At most `MOST_READ` characters. */
  readonly text: string;
}

/** An answer whose body is still arriving. */
type Arriving = { -readonly [Name in keyof Sent]: Sent[Name] };

/** Most characters of an answer that the relay reads. The status is enough, and the body may be a proxy's page of any size. */
const MOST_READ = 65_536;

/** Adds a piece of the body. Returns whether the text has all characters that the relay reads. */
const addPiece = (answer: Arriving, piece: string): boolean => {
  answer.text = (answer.text + piece).slice(0, MOST_READ);
  return answer.text.length === MOST_READ;
};

/** Posts JSON. */
export type Send = (
  url: string,
  headers: Record<string, string>,
  body: string,
) => {
  /** Rejects if there is no answer, or only a part of one. */
  readonly answered: Promise<Sent>;
  /** The answer with the text that has arrived so far. Undefined before status and headers have arrived. */
  arrived(): Sent | undefined;
  /** Aborts the request: `answered` rejects. */
  cancel(): void;
};

/** A `ReadableStream` is an `AsyncIterable`, but the types of browsers lack that. */
const readStart = async (body: Response['body'], answer: Arriving): Promise<void> => {
  const decoder = new TextDecoder();
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>)
    if (addPiece(answer, decoder.decode(chunk, { stream: true }))) return;
  addPiece(answer, decoder.decode());
};

export const sendByFetch =
  (send: typeof fetch): Send =>
  (url, headers, body) => {
    const cancelled = new AbortController();
    let sent: Arriving | undefined;
    const post = async (): Promise<Sent> => {
      const { signal } = cancelled;
      // No redirects: `fetch` would turn the POST into a GET. `manual`, because not every runtime supports `error`.
      const answer = await send(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      if (answer.type === 'opaqueredirect') throw Error('a redirect');
      sent = { status: answer.status, headers: answer.headers, text: '' };
      await readStart(answer.body, sent);
      return sent;
    };
    return { answered: post(), arrived: () => sent, cancel: () => cancelled.abort() };
  };

/** The part of Node's `http` and `https` that is used. */
interface NodeHttp {
  Agent: new (options: { keepAlive: boolean; timeout: number }) => object;
  request(url: string, options: { method: string; agent: object; headers: Record<string, string> }): ClientRequest;
}
interface ClientRequest {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'response', listener: (response: IncomingMessage) => void): unknown;
  end(body: Uint8Array): unknown;
  destroy(error: Error): unknown;
}
interface IncomingMessage {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  setEncoding(encoding: 'utf8'): unknown;
  on(event: 'data' | 'end' | 'error' | 'close', listener: (value: string) => void): unknown;
}

/** How long an unused connection is kept, in ms: less than the 5 s after which Node's servers end them. */
const KEEP_ALIVE = 4000;

const utf8 = new TextEncoder();

const sendByHttp = (load: (module: string) => unknown): Send => {
  const open = (module: string) => {
    const { request, Agent } = load(module) as NodeHttp;
    return { request, agent: new Agent({ keepAlive: true, timeout: KEEP_ALIVE }) };
  };
  const [http, https] = [open('node:http'), open('node:https')];
  return (url, headers, body) => {
    const { request, agent } = /^https:/i.test(url) ? https : http;
    const posting = request(url, { method: 'POST', agent, headers });
    let sent: Arriving | undefined;
    const answered = new Promise<Sent>((resolve, reject) => {
      posting.on('error', reject);
      posting.on('response', (response) => {
        const get = (name: string) => response.headers[name.toLowerCase()]?.toString() ?? null;
        const answer: Arriving = { status: response.statusCode ?? 0, headers: { get }, text: '' };
        sent = answer;
        let isFinished = false;
        const finish = () => {
          isFinished = true;
          resolve(answer);
        };
        // Every response ends with `close`. An error collects its stack, so it is made only when it is needed.
        const abort = () => {
          if (!isFinished) reject(Error('the response was aborted'));
        };
        response.setEncoding('utf8');
        response.on('data', (piece) => {
          if (!addPiece(answer, piece)) return;
          finish();
          posting.destroy(Error('the answer is too long'));
        });
        response.on('end', finish);
        response.on('error', abort);
        response.on('close', abort);
      });
      // Node would go through a text three times: for its length, to join it to the head, and to write it.
      posting.end(utf8.encode(body));
    });
    return { answered, arrived: () => sent, cancel: () => posting.destroy(Error('cancelled')) };
  };
};

/** `navigator.userAgent` identifies Node: Deno, Bun and edge workers have a `process`, too. */
const host = globalThis as {
  process?: { getBuiltinModule?(module: string): unknown };
  navigator?: { userAgent?: string };
};

/** Sends by Node's own `http` in Node, because `fetch` costs several times as much there (`npm run bench:relay`). */
export const sendAsHostDoes = (): Send => {
  const isNode = /^Node/.test(host.navigator?.userAgent ?? 'Node');
  const load = isNode && host.process?.getBuiltinModule;
  // Looked up for each request, because a library may replace the global `fetch`.
  return load ? sendByHttp(load) : sendByFetch((...request) => fetch(...request));
};
