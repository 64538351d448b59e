import { type Answer, outcomeOf, type Transport, type TransportRequest } from '../courier/transport.js';
import { BATCH_PATH, HANDOVER, type HandoverState, UPSERT_PATH, type Upsert, type WireEvent } from '../wire.js';

/** A service in memory. Pass `transport` to a tracker, and read here which requests and events have arrived. */
export interface TestTransport {
  /** The transport to pass to a tracker. */
  readonly transport: Transport;
  /** Every request, oldest first, including failed ones. */
  readonly requests: readonly TransportRequest[];
  /** Returns the events that have arrived, including `$identify`, in order and each once. With a name, returns only those. */
  events(name?: string): WireEvent[];
  /** Returns the customers' properties that have arrived, in order. */
  upserts(): Upsert[];
  /** Answers each later request with this status. Without a status, each later request fails as if offline. */
  fail(status?: number): void;
  /**
   * Accepts requests again. The next `flush()` sends the queue. After a status that refuses the key or the address, such as 401, 403
   * or 404, the tracker pauses, as in production. A second tracker with the same store then sends at once.
   */
  recover(): void;
}

const textOf = ({ body }: TransportRequest): Promise<string> =>
  (typeof body === 'string'
    ? new Response(body)
    : new Response(new Blob([body]).stream().pipeThrough(new DecompressionStream('gzip')))
  ).text();

/**
 * Creates a service in memory, for a tracker that your app creates itself.
 *
 * @example createTracker({ baseUrl: '/clew', transport: service.transport, store: createMemoryStore() })
 */
export const createTestTransport = (): TestTransport => {
  const requests: TransportRequest[] = [];
  const events = new Map<string, WireEvent>();
  const upserts: Upsert[] = [];
  /** Ids of the requests that have arrived. */
  const arrived = new Set<unknown>();
  /** 0: no answer. */
  let status: number | undefined;

  /** Takes a request as a relay does: a duplicate once. Returns its answer about handovers. */
  const take = (url: string, text: string): HandoverState[] => {
    const [path = '', inAddress] = url.split(`?${HANDOVER}=`);
    const { handover = inAddress, handovers = [], clock: _clock, books: _books, ...body } = JSON.parse(text);
    if (path.endsWith(UPSERT_PATH)) upserts.push(body);
    else for (const event of path.endsWith(BATCH_PATH) ? body.batch : [body]) events.set(event.uuid, event);
    arrived.add(handover);
    return handovers.map(([id]: [string]) => (arrived.has(id) ? 'taken' : 'unknown'));
  };

  const answer = async (request: TransportRequest, given: number): Promise<Answer> => {
    if (!given) throw new Error('no connection');
    const outcome = outcomeOf(given);
    const handovers = outcome === 'delivered' ? take(request.url, await textOf(request)) : [];
    return { outcome, status: given, message: `${given}`, ...(handovers[0] && { handovers }) };
  };

  return {
    transport(request) {
      requests.push(request);
      if (status === 0 && request.leaving) return false;
      return answer(request, status ?? 200);
    },
    requests,
    events: (name) => structuredClone([...events.values()].filter(({ event }) => !name || event === name)),
    upserts: () => structuredClone(upserts),
    fail(given = 0) {
      status = given;
    },
    recover() {
      status = undefined;
    },
  };
};
