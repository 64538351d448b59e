import type { NetworkAnswer, Server } from '../server/network.ts';
import { type Handle, SERVICE_URL, startRelay } from '../server/relayProcess.ts';
import type { Owner } from '../world/scheduler.ts';
import type { ClientKind } from './redisClient.ts';
import type { Stage } from './stage.ts';

/** The relays' option `timeout`, in ms. */
export const TIMEOUT = 2000;
/** The shortest `maxPending` that `createRelay` allows with this `timeout`, in ms. */
export const MAX_PENDING = 5 * TIMEOUT + 1200;
/**
 * Longest time (ms) until an answer. The time covers two calls of `seen` around a wait of `timeout`, three attempts to forward a
 * beacon, another call of `seen`, and the pauses between.
 */
const LONGEST_ANSWER = 8 * TIMEOUT + 3200;

/** A machine with a relay that can be killed at any moment. */
export interface Host {
  readonly serve: Server;
  kill(): void;
  start(): void;
}

const BROKEN: NetworkAnswer = { status: 0, headers: {}, text: '', isCut: true };

/** @param pass is called before each effect of the process, and may kill it */
export const createHost = (stage: Stage, name: string, kind: ClientKind, pass: () => void): Host => {
  const { world, ledger } = stage;
  let starts = 0;
  let process: { owner: Owner; handle: Handle; open: Set<(answer: NetworkAnswer) => void> } | undefined;
  const host: Host = {
    start() {
      const owner: Owner = { name: `${name}.${++starts}`, state: 'running', held: [] };
      const isAlive = () => {
        if (owner.state === 'running') pass();
        return owner.state === 'running';
      };
      const command = stage.redis.connect(owner, kind, isAlive);
      const handle = startRelay(world, stage.program, owner.name, {
        owner,
        network: stage.back,
        isAlive,
        optionsOf: ({ redisSeen }) => ({
          baseUrl: SERVICE_URL,
          apiKey: 'sim-key',
          timeout: TIMEOUT,
          seen: redisSeen(command, { maxPending: MAX_PENDING }),
        }),
      });
      process = { owner, handle, open: new Set() };
    },
    kill() {
      if (!process) return;
      const { owner, open } = process;
      world.log(owner.name, () => 'is killed');
      owner.state = 'gone';
      ledger.note({ what: 'killed', from: owner.name });
      process = undefined;
      for (const end of open) end(BROKEN);
    },
    serve(request, answer) {
      if (!process) return answer(BROKEN);
      const { handle, open } = process;
      const end = (made: NetworkAnswer) => {
        open.delete(end);
        cancel();
        answer(made);
      };
      const cancel = world.scheduler.after(LONGEST_ANSWER, 'too late', () => {
        if (open.has(end)) world.break('each request is answered', `${name} did not answer ${request.from}`);
      });
      open.add(end);
      handle({ ...request, url: new URL(request.url).pathname }, end);
    },
  };
  host.start();
  return host;
};
