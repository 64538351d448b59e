import { type Job, jobOf, parse, Refusal, readText } from './relay/request.js';
import { createSeen } from './relay/seen.js';

/** What `createRelay` takes. */
export interface RelayOptions {
  /** Full prefix of the service's addresses, e.g. `https://service.example`. */
  baseUrl: string;
  /**
   * Full prefix of the service's single-event endpoint.
   *
   * @default baseUrl
   */
  eventsUrl?: string;
  /** The service's key, added as `Authorization: Api-Key <key>` on the way out. */
  apiKey: string;
  /**
   * Origins that may call, e.g. `['https://www.example.com']`. Others are answered 403. Without it, pages of other
   * origins are given no CORS headers, but nobody is turned away.
   */
  allowedOrigins?: string[];
  /**
   * Lets pages set customer properties. Whoever can open the page can then rewrite any customer whose primary key they
   * know; without it, an upsert is answered 422 and the tracker drops it as `rejected`.
   *
   * @default false
   */
  allowUnsignedUpsert?: boolean;
  /**
   * Most bytes of a request's body; more is answered 413.
   *
   * @default 102400
   */
  maxBodyBytes?: number;
  /**
   * How long the service may take to answer, in ms; then the answer is 504.
   *
   * @default 10000
   */
  timeout?: number;
  /**
   * Sends the requests to the service.
   *
   * @default the global `fetch`
   */
  fetch?: typeof fetch;
}

/** So many of the last events are remembered, to know them when they come again. */
const MOST_SEEN = 50_000;

const json = (status: number, body: unknown) => Response.json(body, { status });

/**
 * A first-party stand-in for the service that holds the key: it serves the same three paths below any prefix, checks
 * what comes, and adds `Authorization` on the way out.
 *
 * @returns a handler of web requests, for Node (through an adapter), Deno, Bun and edge workers; it never rejects
 * @throws TypeError when an address or the key is missing
 * @example
 * const relay = createRelay({ baseUrl: 'https://service.example', apiKey: process.env.API_KEY });
 * app.all('/clew/*', (c) => relay(c.req.raw));
 */
export const createRelay = (options: RelayOptions): ((request: Request) => Promise<Response>) => {
  const { baseUrl, eventsUrl = baseUrl, apiKey, maxBodyBytes = 102_400, timeout = 10_000 } = options;
  for (const [name, value] of Object.entries({ baseUrl, eventsUrl, apiKey })) {
    if (typeof value !== 'string' || !value) throw new TypeError(`createRelay: ${name} must be a non-empty string`);
  }

  const seen = createSeen(MOST_SEEN);
  const destinations = {
    baseUrl,
    eventsUrl,
    allowUnsignedUpsert: options.allowUnsignedUpsert === true,
    isRepeat: seen.has,
  };

  const forward = async ({ url, body, uuids, rejected }: Job): Promise<Response> => {
    if (body === undefined) return json(200, { rejected });
    let answer: Response;
    let text: string;
    try {
      answer = await (options.fetch ?? fetch)(url, {
        method: 'POST',
        headers: { Authorization: `Api-Key ${apiKey}`, 'Content-Type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(timeout),
      });
      text = await answer.text();
    } catch (error) {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      throw new Refusal(isLate ? 504 : 502, `the service did not answer${isLate ? ` within ${timeout} ms` : ''}`);
    }
    if (answer.ok) seen.add(uuids);
    const { status } = answer;
    const retryAfter = answer.headers.get('Retry-After');
    const response =
      answer.ok && rejected.length
        ? json(status === 204 ? 200 : status, { rejected })
        : new Response(text || null, { status });
    if (text && !rejected.length)
      response.headers.set('Content-Type', answer.headers.get('Content-Type') ?? 'text/plain');
    if (retryAfter) response.headers.set('Retry-After', retryAfter);
    return response;
  };

  const serve = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') throw new Refusal(405, 'expected POST');
    const type = request.headers.get('Content-Type') ?? '';
    // A beacon's text is of type text/plain: a type that needs no preflight.
    if (!/^(application\/json|text\/plain)\s*(;|$)/i.test(type)) {
      throw new Refusal(415, `Content-Type: expected application/json or text/plain, got ${type || 'none'}`);
    }
    const body = parse(await readText(request, maxBodyBytes));
    return forward(jobOf(new URL(request.url).pathname, body, destinations));
  };

  const allow = (origin: string, response: Response): Response => {
    const headers = {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'content-type',
      'Access-Control-Expose-Headers': 'Retry-After',
      'Access-Control-Max-Age': '7200',
      Vary: 'Origin',
    };
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };

  return async (request) => {
    const origin = request.headers.get('Origin');
    const isAllowed = origin !== null && options.allowedOrigins?.includes(origin);
    let response: Response;
    try {
      if (origin !== null && options.allowedOrigins && !isAllowed)
        throw new Refusal(403, `origin ${origin} may not call`);
      response = request.method === 'OPTIONS' ? new Response(null, { status: 204 }) : await serve(request);
    } catch (error) {
      // What is thrown besides refusals is a body that broke off, or one nested too deeply to be written again.
      const { status, message } = error instanceof Refusal ? error : new Refusal(400, `unreadable body: ${error}`);
      response = json(status, { error: message });
    }
    return isAllowed ? allow(origin, response) : response;
  };
};
