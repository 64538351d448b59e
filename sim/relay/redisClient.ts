import { createLane, type Owner } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';
import type { Ledger } from './ledger.ts';

/**
 * How a client treats commands while Redis is away. `rejects` is `redis` with `disableOfflineQueue`, `queues` is `redis`, and
 * `resends` is `ioredis`, which also sends the commands again whose reply it has not read.
 */
export type ClientKind = 'rejects' | 'queues' | 'resends';

export type Command = (args: string[]) => Promise<unknown>;

interface Waiting {
  readonly args: string[];
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The events of a connection that the server causes. */
export interface Connection {
  lose(): void;
  open(): void;
}

/** The server's end of all connections. */
export interface RedisServer {
  /** The number of the running process, or undefined while none runs. A command to a process that is gone is lost. */
  life(): number | undefined;
  execute(from: string, args: string[]): unknown;
  /** Runs after the time that a message takes. */
  later(label: string, run: () => void, more?: object): void;
}

interface Client {
  readonly owner: Owner;
  readonly kind: ClientKind;
  readonly isAlive: () => boolean;
}

/** One connection of a relay, whose messages stay in order. */
export const connectTo = (
  server: RedisServer,
  { world, ledger }: { readonly world: World; readonly ledger: Ledger },
  { owner, kind, isAlive }: Client,
) => {
  const [there, back] = [createLane(), createLane()];
  const unread = new Set<Waiting>();
  let queue: Waiting[] = [];
  let isOpen = server.life() !== undefined;
  const fail = (waiting: Waiting) => {
    ledger.note({ what: 'failed', args: waiting.args, from: owner.name });
    waiting.reject(Error('redis: the connection is closed'));
  };
  const send = (waiting: Waiting) => {
    if (!isAlive()) return;
    const mine = server.life();
    unread.add(waiting);
    const arrive = () => {
      if (mine === undefined || mine !== server.life()) return;
      const reply = server.execute(owner.name, waiting.args);
      world.log('redis', () => `${owner.name} ${waiting.args.join(' ')}: ${reply}`);
      server.later('redis replies', () => mine === server.life() && unread.delete(waiting) && waiting.resolve(reply), {
        owner,
        lane: back,
      });
    };
    server.later('redis command', arrive, { lane: there });
  };
  const flush = () => {
    isOpen = true;
    for (const waiting of queue.splice(0)) send(waiting);
  };
  const connection: Connection = {
    lose() {
      isOpen = false;
      const lost = [...unread];
      unread.clear();
      if (kind === 'resends') queue = [...lost, ...queue];
      else lost.forEach(fail);
    },
    open: () => server.later('redis connects', flush, { owner }),
  };
  const command: Command = (args) =>
    new Promise((resolve, reject) => {
      const waiting = { args, resolve, reject };
      if (isOpen) send(waiting);
      else if (kind === 'rejects') fail(waiting);
      else queue.push(waiting);
    });
  return { connection, command };
};
