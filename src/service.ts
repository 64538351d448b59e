import { withoutKey } from './service/address.js';
import { dataFault, eventFault, keyFault } from './service/eventFault.js';
import { inTime } from './service/inTime.js';
import { objectFault } from './service/kindOfData.js';
import { checkOptions, type ServiceOptions } from './service/options.js';
import { reasonOf } from './service/reasonOf.js';
import { checked, written } from './service/written.js';
import {
  BATCH_PATH,
  EVENT_PATH,
  IDENTIFY,
  joinUrl,
  kindOf,
  type Properties,
  parseJson,
  UPSERT_PATH,
  type Upsert,
  type WireEvent,
} from './wire.js';

export type { ServiceOptions } from './service/options.js';
export type { Properties, WireEvent } from './wire.js';

/** An event for the service. The client fills in `source`, and writes UUIDs in lower case, as the service needs them. */
export type ServiceEvent = Pick<WireEvent, 'event' | 'correlationValue'> & {
  [Name in 'uuid' | 'timestamp' | 'payload']?: WireEvent[Name] | undefined;
} & {
  /**
   * Names the customer property that `correlationValue` belongs to.
   *
   * @default '_id'
   */
  correlationKey?: string | undefined;
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
    /**
     * The service's answer without the key, or the reason why there was none or not all of it, such as `ECONNREFUSED`. At most 1,000
     * characters.
     */
    readonly detail: string,
    options?: ErrorOptions,
  ) {
    super(`${method} ${url}: ${status ?? 'no answer'}: ${detail}`, options);
  }
}

/**
 * A typed client for the service's three endpoints. The client stores nothing and retries nothing. A 2xx counts, also if its body
 * breaks off or does not end within `timeout`.
 */
export interface Service {
  /**
   * Creates or changes a customer. A property with the value `null` is deleted. Calls for one primary key wait for each other,
   * because a service may make two customers of two simultaneous requests for a new key.
   *
   * @param primaryKey the customer's unique key: better an id of your database than an e-mail address, which can change
   * @returns resolves to the service's id of the customer
   * @throws TypeError (rejects) for a primary key or properties that the service would refuse
   * @throws ServiceError (rejects) if the service does not answer 2xx, or its answer has no id. In the second case, `status` is the 2xx:
   * the service has changed the customer, and you may call again for the id
   */
  upsertCustomer(primaryKey: string, properties?: Properties): Promise<{ id: string }>;
  /**
   * Sends events in order. An event without `timestamp` gets the present time. If you retry, give each event a `uuid`, so that
   * a service that checks it stores the event once.
   *
   * @throws TypeError (rejects) for an event that the service would refuse: it names the event, and nothing is sent
   * @throws ServiceError (rejects) if the service does not answer 2xx
   */
  sendBatch(events: readonly ServiceEvent[]): Promise<void>;
  /**
   * Sends one event that happens now. This endpoint takes no `timestamp`.
   *
   * @throws TypeError (rejects) for an event that the service would refuse, for one with a `timestamp`, and for `$identify`, which
   * identifies no customer at this endpoint
   * @throws ServiceError (rejects) if the service does not answer 2xx
   */
  sendEvent(event: Omit<ServiceEvent, 'timestamp'> & { timestamp?: undefined }): Promise<void>;
}

/** The event that the service would get: what JSON makes of the caller's. */
const readEvent = (event: unknown, place: string): Record<string, unknown> => {
  const { data } = written(event, place);
  const fault = objectFault(event, data);
  if (fault) throw new TypeError(`${place}: ${fault}`);
  return data as Record<string, unknown>;
};

/**
 * The JSON of an event, as the service needs it.
 *
 * @param place names the event in the error
 * @throws TypeError for an event that the service would refuse
 */
const completed = (event: Record<string, unknown>, timestamp: unknown, place: string): string => {
  const lower = (id: unknown) => (typeof id === 'string' ? id.toLowerCase() : id);
  const { uuid, correlationKey = '_id', correlationValue } = event;
  const complete = {
    ...event,
    uuid: lower(uuid),
    timestamp,
    source: 'custom',
    correlationKey,
    correlationValue: lower(correlationValue),
  };
  if (typeof correlationKey !== 'string' || !correlationKey)
    throw new TypeError(`${place}: correlationKey: expected a non-empty string, got ${kindOf(correlationKey)}`);
  // A relay passes on the events of browsers only, whose key is `_id`.
  const fault = eventFault({ ...complete, correlationKey: '_id' });
  if (fault) throw new TypeError(`${place}: ${fault}`);
  return JSON.stringify(complete);
};

const upsertText = (primaryKey: string, properties: Properties | undefined): string => {
  const key = keyFault(primaryKey);
  if (key) throw new TypeError(`upsertCustomer: primaryKey: ${key}`);
  const { text, data } = written({ primary_key: primaryKey, properties } satisfies Upsert, 'upsertCustomer');
  const { properties: json } = data as Upsert;
  const none = properties === undefined ? undefined : objectFault(properties, json);
  if (none) throw new TypeError(`upsertCustomer: properties: ${none}`);
  const fault = dataFault(json);
  if (fault) throw new TypeError(`upsertCustomer: properties${fault}`);
  return text;
};

const batchText = (events: readonly ServiceEvent[]): string => {
  if (!Array.isArray(events)) throw new TypeError(`sendBatch: events: expected an array, got ${kindOf(events)}`);
  const now = new Date().toISOString();
  // `Array.from` also visits the holes of a sparse array.
  const batch = Array.from(events as readonly ServiceEvent[], (event, at) => {
    const place = `sendBatch: events[${at}]`;
    const data = readEvent(event, place);
    if ((event.timestamp as unknown) instanceof Date)
      throw new TypeError(`${place}: timestamp: expected an ISO 8601 date and time, got a Date`);
    return completed(data, data.timestamp ?? now, place);
  });
  return `{"batch":[${batch}]}`;
};

const eventText = (event: unknown): string => {
  const data = readEvent(event, 'sendEvent');
  if (data.event === IDENTIFY)
    throw new TypeError(`sendEvent: event: expected another name than ${IDENTIFY}, which needs sendBatch`);
  if (data.timestamp !== undefined)
    throw new TypeError('sendEvent: timestamp: expected none, because a past event needs sendBatch');
  return completed(data, undefined, 'sendEvent');
};

/** Most characters of an answer, or of the reason why there is none, in a `ServiceError`. */
const MAX_DETAIL = 1000;

/** A 2xx of the service. */
interface Taken {
  readonly status: number;
  readonly text: string;
  /** Why the body is not whole. */
  readonly cut: string | undefined;
}

/**
 * Creates a client for your servers, which may hold the key. In a browser the key would be public.
 *
 * @throws TypeError for a missing, invalid or unknown option
 * @example
 * const service = createService({ baseUrl: 'https://service.example', apiKey: process.env.API_KEY ?? '' });
 * await service.upsertCustomer('user_4711', { plan: 'pro' });
 */
export const createService = (options: ServiceOptions): Service => {
  checkOptions(options);
  const { baseUrl, eventsUrl = baseUrl, apiKey, timeout = 20_000 } = options;

  const post = async (base: string, path: string, body: string): Promise<Taken> => {
    const url = joinUrl(base, path);
    const cancelled = new AbortController();
    let arrived: Response | undefined;
    const ask = async () => {
      arrived = await (options.fetch ?? fetch)(url, {
        method: 'POST',
        headers: { Authorization: `Api-Key ${apiKey}`, 'Content-Type': 'application/json' },
        body,
        credentials: 'omit',
        // `fetch` would turn the POST into a GET. Workers do not have `error`.
        redirect: 'manual',
        signal: cancelled.signal,
      });
      return { response: arrived, text: await arrived.text(), cut: undefined };
    };
    /** The status is the answer, also if its body breaks off: after a 2xx, a second request would store the events twice. */
    const withoutRest = (cause: unknown) => {
      cancelled.abort();
      const cut = withoutKey(reasonOf(cause), apiKey).slice(0, MAX_DETAIL);
      if (!arrived?.ok) throw new ServiceError('POST', url, arrived?.status, cut, { cause });
      return { response: arrived, text: '', cut };
    };
    const { response, text, cut } = await inTime(ask(), timeout, 'the service').catch(withoutRest);
    // A browser shows no more of a redirect than this type.
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      const target = response.headers.get('Location');
      const to = target ? ` to ${withoutKey(target, apiKey).slice(0, MAX_DETAIL)}` : '';
      const detail = `expected an answer of the service, got a redirect${to}`;
      throw new ServiceError('POST', url, response.status || undefined, detail);
    }
    if (!response.ok) {
      const detail = withoutKey(text, apiKey).slice(0, MAX_DETAIL) || response.statusText;
      throw new ServiceError('POST', url, response.status, detail);
    }
    // Another server has answered: a proxy, a captive portal, or a website at a wrong address. An empty body is no page of theirs.
    if (/^text\/html/i.test(response.headers.get('Content-Type') ?? '') && (text.trim() || cut !== undefined))
      throw new ServiceError('POST', url, response.status, 'expected an answer of the service, got HTML');
    return { status: response.status, text, cut };
  };

  /** The last running upsert of each primary key. */
  const upserts = new Map<string, Promise<unknown>>();

  const upsert = async (body: string): Promise<{ id: string }> => {
    const { status, text, cut } = await post(baseUrl, UPSERT_PATH, body);
    const fail = (expected: string): never => {
      const detail = `expected ${expected}, got ${cut ?? withoutKey(text, apiKey).slice(0, 200)}`;
      throw new ServiceError('POST', joinUrl(baseUrl, UPSERT_PATH), status, detail);
    };
    if (cut !== undefined) fail('a whole answer');
    // Without the error of `JSON.parse`, which repeats a part of the text, and so may have a part of the key.
    const answer = parseJson<unknown>(text);
    if (answer === undefined) fail('JSON');
    const { id } = Object(answer);
    return typeof id === 'string' && id ? { id } : fail('an object with an id that is a text');
  };

  return {
    async upsertCustomer(primaryKey, properties) {
      // Written now, because the caller may change the properties while this call waits.
      const text = checked([primaryKey, properties], () => upsertText(primaryKey, properties));
      const before = upserts.get(primaryKey) ?? Promise.resolve();
      const mine = before.catch(() => {}).then(() => upsert(text));
      upserts.set(primaryKey, mine);
      try {
        return await mine;
      } finally {
        if (upserts.get(primaryKey) === mine) upserts.delete(primaryKey);
      }
    },
    async sendBatch(events) {
      const text = checked(events, () => batchText(events));
      await post(baseUrl, BATCH_PATH, text);
    },
    async sendEvent(event) {
      const text = checked(event, () => eventText(event));
      await post(eventsUrl, EVENT_PATH, text);
    },
  };
};
