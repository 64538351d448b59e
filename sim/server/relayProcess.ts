import { createAborting, type Signal } from '../browser/abort.ts';
import { createClockwork } from '../browser/clockwork.ts';
import { createHeaders, InflatingStream, SimulatedResponse } from '../browser/responses.ts';
import type { Program } from '../world/program.ts';
import type { Owner } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';
import { subtle } from './hmac.ts';
import type { Network, NetworkAnswer, NetworkRequest } from './network.ts';

export const SERVICE_URL = 'https://service.example';

type Handler = (request: object) => Promise<SimulatedResponse>;
type Fetch = (
  url: string,
  init: { headers: Record<string, string>; body: string; signal?: Signal },
) => Promise<unknown>;

/** The exports of `dist/relay.js` that a simulation calls. */
export interface RelayModule {
  createRelay(options: object): Handler;
  memorySeen(options?: object): object;
  redisSeen(command: (args: string[]) => Promise<unknown>, options?: object): object;
}

/** Answers one request, unless the process is gone by then. */
export type Handle = (request: NetworkRequest, answer: (answer: NetworkAnswer) => void) => void;

interface ProcessOptions {
  readonly owner: Owner;
  /** Carries the relay's own requests to the service. */
  readonly network: Network;
  /** Whether the process runs. The relay checks it before each effect, because a process that is gone has none. */
  readonly isAlive: () => boolean;
  /** The options of `createRelay`, without `fetch`. */
  readonly optionsOf: (module: RelayModule) => object;
}

const fetchOf =
  ({ owner, network, isAlive }: ProcessOptions): Fetch =>
  (url, init) =>
    new Promise((resolve, reject) => {
      if (!isAlive()) return;
      const { signal } = init;
      const sent = network.send({ from: owner.name, url, headers: { ...init.headers }, body: init.body }, (answer) => {
        // The service may have taken a request that the relay has given up. Then no sender reads the success.
        if (owner.state === 'gone' || signal?.aborted) return;
        if (!answer || answer.isCut) return reject(new TypeError('fetch failed'));
        answer.accepted?.();
        resolve(new SimulatedResponse(answer.text, { status: answer.status, headers: { ...answer.headers } }));
      });
      signal?.addEventListener('abort', () => {
        sent.giveUp();
        reject(new TypeError('fetch failed'));
      });
    });

const answerOf = async (response: SimulatedResponse): Promise<NetworkAnswer> => {
  const text = await response.text();
  const headers = Object.fromEntries(
    ['Retry-After', 'Content-Type', 'clew-relay', 'clew-handovers'].flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  return { status: response.status, headers, text };
};

/**
 * Starts the real relay from `dist/relay.js` in virtual time.
 *
 * @param program `dist/relay.js`
 * @param name names the relay in the timeline
 */
export const startRelay = (world: World, program: Program, name: string, options: ProcessOptions): Handle => {
  const { owner, isAlive, optionsOf } = options;
  const clockwork = createClockwork(world, owner, (run) => run(), world.serverClock);
  const fetch = fetchOf(options);
  const given = {
    ...clockwork,
    crypto: { ...clockwork.crypto, subtle },
    ...createAborting((delay, run) => void clockwork.setTimeout(run, delay)),
    Response: SimulatedResponse,
    DecompressionStream: InflatingStream,
    TextEncoder,
    TextDecoder,
    atob,
    btoa,
    URL,
    fetch,
    queueMicrotask,
    console,
  };
  const module = program({ ...given, globalThis: given }) as RelayModule;
  const handle = module.createRelay({ ...optionsOf(module), fetch });
  return (request, answer) => {
    const body = (async function* () {
      yield typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
    })();
    const reply = async (response: SimulatedResponse) => {
      const made = await answerOf(response);
      world.log(name, () => `answers ${request.from} ${made.status} ${made.text}`.trim());
      if (isAlive()) answer(made);
    };
    const url = `https://shop.example${request.url}`;
    handle({ method: 'POST', url, headers: createHeaders(request.headers), body }).then(reply);
  };
};
