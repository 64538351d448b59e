import { BATCH_PATH, EVENT_PATH, joinUrl, UPSERT_PATH, type Upsert, type WireEvent } from './wire.js';

export type { WireEvent } from './wire.js';

/** What `createService` takes. */
export interface ServiceOptions {
  /** Full prefix of the service's addresses, e.g. `https://service.example`. */
  baseUrl: string;
  /**
   * Full prefix of the single-event endpoint.
   *
   * @default baseUrl
   */
  eventsUrl?: string;
  /** The service's key, sent as `Authorization: Api-Key <key>`. */
  apiKey: string;
  /**
   * How long a request may take, in ms.
   *
   * @default 20000
   */
  timeout?: number;
  /**
   * Sends the requests.
   *
   * @default the global `fetch`
   */
  fetch?: typeof fetch;
}

/** An event for the service: `source` is filled in, and `correlationKey` unless given. */
export type ServiceEvent = Pick<WireEvent, 'event' | 'correlationValue'> &
  Partial<Pick<WireEvent, 'uuid' | 'timestamp' | 'payload'>> & {
    /** @default '_id' */
    correlationKey?: string;
  };

/** A request that was not answered with success. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  constructor(
    readonly method: string,
    readonly url: string,
    /** HTTP status; undefined when there was no answer. */
    readonly status: number | undefined,
    /** What the service said, or what went wrong on the way there. */
    readonly detail: string,
    options?: ErrorOptions,
  ) {
    super(`${method} ${url}: ${status ?? 'no answer'}: ${detail}`, options);
  }
}

/** A typed client for the three endpoints. */
export interface Service {
  /**
   * Creates or changes a customer; a property that is `null` is deleted.
   *
   * @throws ServiceError
   */
  upsertCustomer(primaryKey: string, properties?: Record<string, unknown>): Promise<{ id: string }>;
  /**
   * Sends events in order; each without a `timestamp` gets the present time.
   *
   * @throws ServiceError
   */
  sendBatch(events: readonly ServiceEvent[]): Promise<void>;
  /**
   * Sends one event, which happens now: this endpoint takes no `timestamp` and identifies nobody.
   *
   * @throws ServiceError
   */
  sendEvent(event: Omit<ServiceEvent, 'timestamp'>): Promise<void>;
}

/**
 * A client for servers, which may hold the key. In a browser the key would be public.
 *
 * @example
 * const service = createService({ baseUrl: 'https://service.example', apiKey: process.env.API_KEY ?? '' });
 * await service.upsertCustomer('ann@example.com', { plan: 'pro' });
 */
export const createService = (options: ServiceOptions): Service => {
  const { baseUrl, eventsUrl = baseUrl, apiKey, timeout = 20_000 } = options;
  for (const [name, value] of Object.entries({ baseUrl, eventsUrl, apiKey })) {
    if (typeof value !== 'string' || !value) throw new TypeError(`createService: ${name} must be a non-empty string`);
  }

  const post = async (base: string, path: string, body: unknown): Promise<{ status: number; text: string }> => {
    const url = joinUrl(base, path);
    let response: Response;
    let text: string;
    try {
      response = await (options.fetch ?? fetch)(url, {
        method: 'POST',
        headers: { Authorization: `Api-Key ${apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        credentials: 'omit',
        redirect: 'error',
        signal: AbortSignal.timeout(timeout),
      });
      text = await response.text();
    } catch (cause) {
      throw new ServiceError('POST', url, undefined, String(cause), { cause });
    }
    if (!response.ok) throw new ServiceError('POST', url, response.status, text.slice(0, 1000) || response.statusText);
    return { status: response.status, text };
  };

  const complete = (event: ServiceEvent) => ({ correlationKey: '_id', ...event, source: 'custom' });

  return {
    async upsertCustomer(primaryKey, properties) {
      const body: Upsert = { primary_key: primaryKey, ...(properties && { properties }) };
      const { status, text } = await post(baseUrl, UPSERT_PATH, body);
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw new ServiceError(
          'POST',
          joinUrl(baseUrl, UPSERT_PATH),
          status,
          `expected JSON, got ${text.slice(0, 200)}`,
          { cause },
        );
      }
    },
    async sendBatch(events) {
      const timestamp = new Date().toISOString();
      await post(baseUrl, BATCH_PATH, { batch: events.map((event) => complete({ timestamp, ...event })) });
    },
    async sendEvent(event) {
      const { timestamp: _, ...rest } = event as ServiceEvent;
      await post(eventsUrl, EVENT_PATH, complete(rest));
    },
  };
};
