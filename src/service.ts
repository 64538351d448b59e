import { BATCH_PATH, EVENT_PATH, joinUrl, kindOf, UPSERT_PATH, type Upsert, type WireEvent } from './wire.js';

export type { WireEvent } from './wire.js';

/** The options of `createService`. */
export interface ServiceOptions {
  /**
   * Full prefix of the service's addresses. Required.
   *
   * @example 'https://service.example'
   */
  baseUrl: string;
  /**
   * Full prefix of the single-event endpoint.
   *
   * @default baseUrl
   */
  eventsUrl?: string;
  /** The service's key, sent as `Authorization: Api-Key <key>`. Required. */
  apiKey: string;
  /**
   * How long a request may take, in ms. After that it rejects with a `ServiceError` without a status.
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

/** An event for the service. The client fills in `source`. */
export type ServiceEvent = Pick<WireEvent, 'event' | 'correlationValue'> &
  Partial<Pick<WireEvent, 'uuid' | 'timestamp' | 'payload'>> & {
    /**
     * Names the customer property that `correlationValue` belongs to.
     *
     * @default '_id'
     */
    correlationKey?: string;
  };

/** A request that was not answered 2xx. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  constructor(
    /** The HTTP method, `POST`. */
    readonly method: string,
    /** The address of the request. */
    readonly url: string,
    /** The HTTP status, or undefined if there was no answer. */
    readonly status: number | undefined,
    /** The service's answer (at most 1,000 characters), or the reason why there was none. */
    readonly detail: string,
    options?: ErrorOptions,
  ) {
    super(`${method} ${url}: ${status ?? 'no answer'}: ${detail}`, options);
  }
}

/** A typed client for the service's three endpoints. It stores nothing and retries nothing. */
export interface Service {
  /**
   * Creates or changes a customer. A property with the value `null` is deleted.
   *
   * @param primaryKey the customer's unique key: better an id of your database than an e-mail address, which can change
   * @returns resolves to the service's id of the customer
   * @throws ServiceError (rejects) if the service does not answer 2xx, or its answer is not JSON
   */
  upsertCustomer(primaryKey: string, properties?: Record<string, unknown>): Promise<{ id: string }>;
  /**
   * Sends events in order. An event without `timestamp` gets the present time. If you retry, give each event a `uuid`, so that
   * a service that checks it stores the event once.
   *
   * @throws ServiceError (rejects) if the service does not answer 2xx
   */
  sendBatch(events: readonly ServiceEvent[]): Promise<void>;
  /**
   * Sends one event that happens now. This endpoint takes no `timestamp`, and `$identify` identifies no customer there.
   *
   * @throws ServiceError (rejects) if the service does not answer 2xx
   */
  sendEvent(event: Omit<ServiceEvent, 'timestamp'>): Promise<void>;
}

/**
 * Creates a client for your servers, which may hold the key. In a browser the key would be public.
 *
 * @throws TypeError for a missing or empty `baseUrl`, `eventsUrl` or `apiKey`
 * @example
 * const service = createService({ baseUrl: 'https://service.example', apiKey: process.env.API_KEY ?? '' });
 * await service.upsertCustomer('user_4711', { plan: 'pro' });
 */
export const createService = (options: ServiceOptions): Service => {
  const { baseUrl, eventsUrl = baseUrl, apiKey, timeout = 20_000 } = options;
  for (const [name, value] of Object.entries({ baseUrl, eventsUrl, apiKey })) {
    if (typeof value !== 'string' || !value)
      throw new TypeError(`createService: ${name}: expected a non-empty string, got ${kindOf(value)}`);
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
