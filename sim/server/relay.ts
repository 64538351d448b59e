import { createAborting } from '../browser/abort.ts';
import { createClockwork } from '../browser/clockwork.ts';
import { createHeaders, InflatingStream, SimulatedResponse } from '../browser/responses.ts';
import type { Program } from '../world/program.ts';
import type { Owner } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';
import type { Network, NetworkAnswer, Server } from './network.ts';

export const SERVICE_URL = 'https://service.example';

/** The real relay from `dist/relay.js`, in virtual time. */
export interface SimulatedRelay {
  readonly serve: Server;
  /** Ends the process with what it has under way, and starts another one. */
  restart(): void;
}

type Handler = (request: object) => Promise<SimulatedResponse>;

interface RelayModule {
  createRelay(options: object): Handler;
  memorySeen(options?: object): object;
}

/**
 * @param program `dist/relay.js`
 * @param network carries the relay's own requests to the service
 * @param name names its processes in the timeline
 * @param baseUrl where its service is
 */
export const createSimulatedRelay = (
  world: World,
  program: Program,
  network: Network,
  name = 'relay',
  baseUrl = SERVICE_URL,
): SimulatedRelay => {
  let process: Owner | undefined;
  let handle: Handler | undefined;
  let starts = 0;
  /** Outlives the process, as a Redis does. */
  let seen: object | undefined;

  const start = () => {
    const owner: Owner = { name: `${name}${++starts}`, state: 'running', held: [] };
    const guard = (run: () => void) => run();
    const clockwork = createClockwork(world, owner, guard, world.serverClock);
    const fetch = (url: string, init: { headers: Record<string, string>; body: string }) =>
      new Promise((resolve, reject) => {
        network.send({ from: owner.name, url, headers: { ...init.headers }, body: init.body }, (answer) => {
          if (owner.state === 'gone') return;
          if (!answer || answer.isCut) return reject(new TypeError('fetch failed'));
          answer.accepted?.();
          resolve(new SimulatedResponse(answer.text, { status: answer.status, headers: { ...answer.headers } }));
        });
      });
    const given = {
      ...clockwork,
      ...createAborting((delay, run) => void clockwork.setTimeout(run, delay)),
      Response: SimulatedResponse,
      DecompressionStream: InflatingStream,
      TextEncoder,
      TextDecoder,
      URL,
      fetch,
      queueMicrotask,
      console,
    };
    const { createRelay, memorySeen } = program({ ...given, globalThis: given }) as RelayModule;
    seen ??= memorySeen({ maxAge: 30 * 86_400_000 });
    handle = createRelay({
      baseUrl,
      apiKey: 'sim-key',
      allowUnsignedUpsert: true,
      allowUnsignedIdentify: true,
      seen,
      fetch,
    });
    process = owner;
  };
  start();

  return {
    serve(request, answer) {
      const mine = process;
      const body = (async function* () {
        yield typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
      })();
      const reply = async (response: SimulatedResponse) => {
        const text = await response.text();
        const headers = Object.fromEntries(
          ['Retry-After', 'Content-Type', 'clew-relay'].flatMap((name) => {
            const value = response.headers.get(name);
            return value === null ? [] : [[name, value]];
          }),
        );
        const made: NetworkAnswer = { status: response.status, headers, text };
        world.log(name, () => `answers ${request.from} ${made.status} ${made.text}`);
        if (mine?.state === 'running') answer(made);
      };
      handle?.({
        method: 'POST',
        url: `https://shop.example${request.url}`,
        headers: createHeaders(request.headers),
        body,
      }).then(reply);
    },
    restart() {
      if (process) process.state = 'gone';
      world.log(name, () => 'restarts');
      start();
    },
  };
};
