import type { Owner } from '../world/scheduler.ts';
import type { World } from '../world/world.ts';
import { type Ledger, PREFIX } from './ledger.ts';
import { type ClientKind, type Command, type Connection, connectTo, type RedisServer } from './redisClient.ts';

/** One Redis in virtual time, with the commands of `redisSeen`. */
export interface SimulatedRedis {
  connect(owner: Owner, kind: ClientKind, isAlive: () => boolean): Command;
  /** Ends the process. `isSilent`: the clients notice only after the restart. */
  kill(isSilent: boolean): void;
  restart(isEmptied: boolean): void;
  /** The value of a key. */
  read(key: string): string | null;
}

const LATENCY = [1, 12] as const;
/** The script of `redisSeen`. Another script throws: this Redis runs no Lua. */
const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1";

/** The values of a Redis. A key ends when its time is over. */
const createValues = (world: World, ledger: Ledger) => {
  const values = new Map<string, { value: string; until: number }>();
  // This Redis has run for a day.
  const since = `${world.serverClock() - 86_400_000}`;
  values.set(`${PREFIX}since`, { value: since, until: Number.POSITIVE_INFINITY });
  /** The totals of the books. The accounts of the books are in `values`. */
  const hashes = new Map<string, Map<string, number>>();
  const read = (key: string): string | null => {
    const found = values.get(key);
    if (!found) return null;
    if (found.until > world.scheduler.now()) return found.value;
    values.delete(key);
    ledger.note({ what: 'expired', key, owner: found.value });
    return null;
  };
  const set = (from: string, [key = '', value = '', ...options]: string[]) => {
    const isNew = options[0] === 'NX';
    if (isNew && read(key) !== null) return null;
    // Without a time it stays.
    const until = options.includes('PX') ? world.scheduler.now() + Number(options.at(-1)) : Number.POSITIVE_INFINITY;
    values.set(key, { value, until });
    ledger.note(isNew ? { what: 'reserved', key, owner: value, from } : { what: 'taken', key, from });
    return 'OK';
  };
  /** The totals of a day, by the place of the account in one script, and in the other. */
  const books = ([script = '', , key = '', day = '', before, after = '', maxAge, ...numbers]: string[]) => {
    if (script.includes('HGETALL')) return [...(hashes.get(key) ?? [])].flatMap(([name, count]) => [name, `${count}`]);
    if ((read(key) ?? '') !== before) return 0;
    values.set(key, { value: after, until: world.scheduler.now() + Number(maxAge) });
    const totals = hashes.get(day) ?? new Map<string, number>();
    for (let at = 0; at < numbers.length; at += 2) {
      const name = numbers[at] ?? '';
      totals.set(name, (totals.get(name) ?? 0) + Number(numbers[at + 1]));
    }
    hashes.set(day, totals);
    return 1;
  };
  const release = ([script, count, key = '', owner = '']: string[]) => {
    if (script !== RELEASE || count !== '1') throw Error(`the simulated Redis has no such script: ${script}`);
    if (read(key) === owner) values.delete(key);
    return 1;
  };
  return {
    read,
    execute(from: string, [name, ...args]: string[]) {
      if (name === 'SET') return set(from, args);
      if (name === 'GET') return read(args[0] ?? '');
      if (name === 'EVAL') return /HINCRBY|HGETALL/.test(args[0] ?? '') ? books(args) : release(args);
      throw Error(`the simulated Redis has no command ${name}`);
    },
    clear() {
      values.clear();
      hashes.clear();
    },
    /** Ends the keys whose time is over. */
    sweep: () => [...values.keys()].forEach(read),
  };
};

export const createRedis = (world: World, ledger: Ledger): SimulatedRedis & { sweep(): void } => {
  const { scheduler } = world;
  const random = world.random.fork('redis');
  const values = createValues(world, ledger);
  const connections = new Set<Connection>();
  let isUp = true;
  /** Counts the processes of Redis. A command to a process that is gone is lost. */
  let life = 0;
  let isSilent = false;
  const later = (label: string, run: () => void, more: object = {}) =>
    void scheduler.after(random.between(...LATENCY), label, run, more);

  const server: RedisServer = { life: () => (isUp ? life : undefined), execute: values.execute, later };
  const connect = (owner: Owner, kind: ClientKind, isAlive: () => boolean): Command => {
    const { connection, command } = connectTo(server, { world, ledger }, { owner, kind, isAlive });
    connections.add(connection);
    return command;
  };
  const each = (what: keyof Connection) => () => connections.forEach((connection) => void connection[what]());
  return {
    connect,
    sweep: values.sweep,
    read: values.read,
    kill(silent) {
      world.log('redis', () => `is killed${silent ? ', and nobody notices' : ''}`);
      isUp = false;
      life++;
      isSilent = silent;
      ledger.note({ what: 'redis down' });
      if (!silent) later('redis is missed', each('lose'));
    },
    restart(isEmptied) {
      world.log('redis', () => `comes back${isEmptied ? ' without its keys' : ''}`);
      isUp = true;
      if (isEmptied) values.clear();
      ledger.note({ what: isEmptied ? 'redis emptied' : 'redis up' });
      if (isSilent) each('lose')();
      each('open')();
    },
  };
};
