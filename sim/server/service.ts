import type { World } from '../world/world.ts';
import { isOther } from './addresses.ts';
import { type NetworkAnswer, type Server, textOf } from './network.ts';

/** An event as the service has stored it. */
export interface Stored {
  readonly uuid: string;
  readonly event: string;
  readonly correlationValue: string;
  readonly payload: { readonly n?: number; readonly distinct_id?: string } & Record<string, unknown>;
  readonly timestamp: string;
  /** Virtual time in ms. */
  readonly at: number;
  /** Whether it came to the service of a page's second tracker. */
  readonly isOther: boolean;
  /** Whether the sender has read a success for it, and so has no reason to send it again. */
  isConfirmed: boolean;
}

/** A request for properties of the customer with this key. */
interface Upsert {
  readonly n: number;
  readonly key: string;
  readonly at: number;
}

type Sent = Omit<Stored, 'at' | 'isConfirmed' | 'isOther'>;

/** How the service answers from now on. */
export interface Mood {
  /** Answers with this status in place of its own. */
  readonly status?: number;
  readonly retryAfter?: string;
  /** Whether the service stores the events although it answers with `status`. */
  readonly takes?: boolean;
}

/**
 * The customer-messaging service as `interface.md` describes it. The service stores duplicates, and knows customers by their
 * primary key. If the service refuses an event of a batch, it stores the events before that event and answers 500.
 */
export interface Service {
  readonly serve: Server;
  mood: Mood;
  /** In order of arrival, duplicates included. */
  readonly stored: Stored[];
  /** The primary keys to which properties with this number were sent. */
  readonly upserted: Map<number, Set<string>>;
  /** The number of the properties that the customer has had since then, by each request, in order of arrival. */
  readonly upserts: Upsert[];
  /** Properties by primary key. */
  readonly customers: Map<string, Record<string, unknown>>;
  /** Requests for events, with the time of each. */
  readonly requests: { readonly at: number; readonly from: string }[];
}

/** Name of an event that the service refuses. */
export const POISON = 'poison';

/** Names a property by the number of its call: one request may have the properties of several calls. */
export const propertyOf = (n: number): string => `call ${n}`;

const numbersIn = (properties: Record<string, unknown>): number[] =>
  Object.keys(properties).flatMap((name) => (name.startsWith('call ') ? Number(name.slice(5)) : []));

export const createService = (world: World): Service => {
  const stored: Stored[] = [];
  const upserted = new Map<number, Set<string>>();
  const upserts: Upsert[] = [];
  const customers = new Map<string, Record<string, unknown>>();
  const take = (event: Sent, isOther: boolean): boolean => {
    if (event.event === POISON) return false;
    stored.push({ ...event, at: world.scheduler.now(), isOther, isConfirmed: false });
    world.log(
      'service',
      () => `takes ${event.event} ${JSON.stringify(event.payload)} of ${event.correlationValue.slice(0, 4)}`,
    );
    if (event.event === '$identify')
      customers.set(`${event.payload.distinct_id}`, customers.get(`${event.payload.distinct_id}`) ?? {});
    return true;
  };
  const upsert = ({
    primary_key,
    properties = {},
  }: {
    primary_key?: unknown;
    properties?: Record<string, unknown>;
  }) => {
    if (typeof primary_key !== 'string') return false;
    for (const n of numbersIn(properties)) upserted.set(n, new Set(upserted.get(n)).add(primary_key));
    // A request may join several calls. Only the values of the last call count.
    if (typeof properties.n === 'number')
      upserts.push({ n: properties.n, key: primary_key, at: world.scheduler.now() });
    customers.set(primary_key, { ...customers.get(primary_key), ...properties });
    world.log('service', () => `upserts ${primary_key} ${JSON.stringify(properties)}`);
    return true;
  };
  const work = (path: string, text: string): NetworkAnswer => {
    const body = JSON.parse(text);
    if (path.endsWith('/api/customers/upsert'))
      return upsert(body) ? { status: 201, headers: {}, text: '{"id":"1"}' } : { status: 500, headers: {}, text: '' };
    const events: Sent[] = path.endsWith('/api/events/batch/') ? body.batch : [{ ...body, timestamp: '' }];
    for (const event of events)
      if (!take(event, isOther(path))) return { status: 500, headers: {}, text: '{"message":"invalid event"}' };
    return { status: 201, headers: {}, text: '' };
  };
  const service: Service = {
    mood: {},
    stored,
    upserted,
    upserts,
    customers,
    requests: [],
    serve(request, reply) {
      const answer = (made: NetworkAnswer) => {
        world.log('service', () => `answers ${request.from} ${made.status} ${made.text}`.trim());
        reply(made);
      };
      const { status, retryAfter, takes } = service.mood;
      const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': retryAfter };
      service.requests.push({ at: world.scheduler.now(), from: request.from });
      if (status !== undefined && !takes) return answer({ status, headers, text: '' });
      if (request.headers.Authorization !== 'Api-Key sim-key') return answer({ status: 401, headers: {}, text: '' });
      const before = stored.length;
      const answered = work(request.url, textOf(request));
      const taken = stored.slice(before);
      const made = status === undefined ? answered : { status, headers, text: '' };
      const confirm = () => {
        for (const event of taken) event.isConfirmed = true;
      };
      answer(made.status < 300 ? { ...made, accepted: confirm } : made);
    },
  };
  return service;
};
