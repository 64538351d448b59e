/** What the service answered, read to its end: what comes later must not fail any more. */
export interface Sent {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly text: string;
}

/** Posts JSON. Rejects when there is no answer, or only half of one. */
export type Send = (
  url: string,
  headers: Record<string, string>,
  body: string,
) => {
  readonly answered: Promise<Sent>;
  /** Gives up waiting: `answered` rejects. */
  cancel(): void;
};

export const sendByFetch =
  (send: typeof fetch): Send =>
  (url, headers, body) => {
    const cancelled = new AbortController();
    const post = async (): Promise<Sent> => {
      const { signal } = cancelled;
      // Redirects are followed by none of us: a POST would become a GET. Not every runtime knows `error`.
      const answer = await send(url, { method: 'POST', headers, body, redirect: 'manual', signal });
      if (answer.type === 'opaqueredirect') throw Error('a redirect');
      const { status } = answer;
      return { status, headers: answer.headers, text: await answer.text() };
    };
    return { answered: post(), cancel: () => cancelled.abort() };
  };

/** What is needed of Node's `http` and `https`. */
interface NodeHttp {
  Agent: new (options: { keepAlive: boolean; timeout: number }) => object;
  request(url: string, options: { method: string; agent: object; headers: Record<string, string> }): ClientRequest;
}
interface ClientRequest {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'response', listener: (response: IncomingMessage) => void): unknown;
  end(body: string): unknown;
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

const sendByHttp = (load: (module: string) => unknown): Send => {
  const open = (module: string) => {
    const { request, Agent } = load(module) as NodeHttp;
    return { request, agent: new Agent({ keepAlive: true, timeout: KEEP_ALIVE }) };
  };
  const [http, https] = [open('node:http'), open('node:https')];
  return (url, headers, body) => {
    const { request, agent } = /^https:/i.test(url) ? https : http;
    const posting = request(url, { method: 'POST', agent, headers });
    const answered = new Promise<Sent>((resolve, reject) => {
      posting.on('error', reject);
      posting.on('response', (response) => {
        let text = '';
        const get = (name: string) => response.headers[name.toLowerCase()]?.toString() ?? null;
        response.setEncoding('utf8');
        response.on('data', (piece) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: { get }, text }));
        for (const event of ['error', 'close'] as const) response.on(event, () => reject(Error('it broke off')));
      });
      posting.end(body);
    });
    return { answered, cancel: () => posting.destroy(Error('cancelled')) };
  };
};

/** Where it says who it is: Deno, Bun and edge workers have a `process`, too. */
const host = globalThis as {
  process?: { getBuiltinModule?(module: string): unknown };
  navigator?: { userAgent?: string };
};

/** In Node by its own `http`, which costs a quarter of what `fetch` costs there (`npm run bench:relay`). */
export const sendAsHostDoes = (): Send => {
  const isNode = /^Node/.test(host.navigator?.userAgent ?? 'Node');
  const load = isNode && host.process?.getBuiltinModule;
  // Looked up for each request: somebody may replace it.
  return load ? sendByHttp(load) : sendByFetch((...request) => fetch(...request));
};
