import type { Seen } from '../../src/relay/seen.ts';
import { type Accounts, createAccounts } from '../walk/booksChecks.ts';
import type { Program } from '../world/program.ts';
import type { Owner } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';
import { identityKeysOf, type KeyRing, SECRET } from './hmac.ts';
import type { Network, Server } from './network.ts';
import { type Handle, SERVICE_URL, startRelay } from './relayProcess.ts';
import { propertyOf } from './service.ts';

export { SERVICE_URL } from './relayProcess.ts';

/** The real relay from `dist/relay.js`, in virtual time. */
export interface SimulatedRelay {
  readonly serve: Server;
  /** The relay's accounts of page loads. */
  readonly accounts: Accounts;
  /** Ends the process with its open requests, and starts another process. */
  restart(): void;
  /** Restarts with other keys for tokens. */
  setKeys(change: (keys: KeyRing) => KeyRing): void;
  /** The key with which the app's server signs. */
  key(): number;
}

interface RelayOptions {
  /** Names its processes in the timeline. */
  readonly name?: string;
  /** The address of its service. */
  readonly baseUrl?: string;
  /** The proof that the relay requires of an identity: none, a signature, or a token that expires. */
  readonly proof?: Proof;
}

export type Proof = 'none' | 'signature' | 'token';

/** More calls than any walk makes. */
const MOST_CALLS = 3000;
/** Each `setProperties` of a walk sets a property of its own. */
const allowedProperties = ['visits', 'n', ...Array.from({ length: MOST_CALLS }, (_, n) => propertyOf(n))];

const IDENTITY: Readonly<Record<Proof, (keys: KeyRing) => object>> = {
  none: () => ({ allowUnsignedUpsert: true, allowUnsignedIdentify: true }),
  signature: () => ({ identitySecret: SECRET }),
  token: (keys) => ({ identityKeys: identityKeysOf(keys), allowedProperties }),
};

/**
 * @param program `dist/relay.js`
 * @param network carries the relay's own requests to the service
 */
export const createSimulatedRelay = (
  world: World,
  program: Program,
  network: Network,
  { name = 'relay', baseUrl = SERVICE_URL, proof = 'none' }: RelayOptions = {},
): SimulatedRelay => {
  let process: Owner | undefined;
  let handle: Handle | undefined;
  let starts = 0;
  /** The store of event ids, which outlives the process like a Redis. */
  let seen: Seen | undefined;
  let keys: KeyRing = { latest: 0, first: 0, revoked: [] };
  const accounts = createAccounts();
  /** `seen`, whose changes of the accounts are noted. */
  const noted = (made: Seen): Seen => {
    const { books } = made;
    if (!books) return made;
    const write: typeof books.write = async (change) => {
      const isWritten = await books.write(change);
      if (isWritten) accounts.note(change.load, change.after);
      return isWritten;
    };
    return { ...made, books: { ...books, write } };
  };

  const start = () => {
    const owner: Owner = { name: `${name}${++starts}`, state: 'running', held: [] };
    process = owner;
    handle = startRelay(world, program, name, {
      owner,
      network,
      isAlive: () => owner.state === 'running',
      optionsOf({ memorySeen }) {
        seen ??= noted(memorySeen({ maxAge: 30 * 86_400_000 }) as Seen);
        return { baseUrl, apiKey: 'sim-key', ...IDENTITY[proof](keys), seen };
      },
    });
  };
  start();
  const restart = () => {
    if (process) process.state = 'gone';
    world.log(name, () => 'restarts');
    start();
  };

  return {
    accounts,
    serve: (request, answer) => handle?.(request, answer),
    restart,
    setKeys(change) {
      keys = change(keys);
      world.log(name, () => `has the keys ${JSON.stringify(keys)}`);
      restart();
    },
    key: () => keys.latest,
  };
};
