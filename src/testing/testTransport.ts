import { type Answer, outcomeOf, type Transport, type TransportRequest } from '../pipeline/transport.js';
import { BATCH_PATH, UPSERT_PATH, type Upsert, type WireEvent } from '../wire.js';

/** A service in memory: give `transport` to a tracker, and look here at what it has taken. */
export interface TestTransport {
  readonly transport: Transport;
  /** Every request, oldest first, also those that have failed. */
  readonly requests: readonly TransportRequest[];
  /** The events that have arrived, `$identify` among them, in order and each once; with a name only those. */
  events(name?: string): WireEvent[];
  /** The customers' properties that have arrived, in order. */
  upserts(): Upsert[];
  /** From now on every request is answered with this status, or without one gets no answer, as offline. */
  fail(status?: number): void;
  /** From now on every request is taken again. What waits goes out with the next `flush()`. */
  recover(): void;
}

const textOf = ({ body }: TransportRequest): Promise<string> =>
  (typeof body === 'string'
    ? new Response(body)
    : new Response(new Blob([body]).stream().pipeThrough(new DecompressionStream('gzip')))
  ).text();

/** @example createTracker({ baseUrl: '/clew', transport: service.transport, store: createMemoryStore() }) */
export const createTestTransport = (): TestTransport => {
  const requests: TransportRequest[] = [];
  const events = new Map<string, WireEvent>();
  const upserts: Upsert[] = [];
  /** 0: no answer. */
  let status: number | undefined;

  const take = (url: string, text: string) => {
    const said = JSON.parse(text);
    if (url.endsWith(UPSERT_PATH)) upserts.push(said);
    // What comes twice is taken once, as by a relay.
    else for (const event of url.endsWith(BATCH_PATH) ? said.batch : [said]) events.set(event.uuid, event);
  };

  const answer = async (request: TransportRequest, given: number): Promise<Answer> => {
    if (!given) throw new Error('no connection');
    const outcome = outcomeOf(given);
    if (outcome === 'delivered') take(request.url, await textOf(request));
    return { outcome, status: given, message: `${given}` };
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
