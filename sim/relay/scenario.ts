import { countsOf, type Load } from '../../src/relay/load.ts';
import { createNetwork, FAIR } from '../server/network.ts';
import type { Program } from '../world/program.ts';
import { type Broken, createWorld, type World } from '../world/world.ts';
import { type Clients, createBatches, createEvents, LOAD, RELAYS, type SentEvent, startClients } from './clients.ts';
import { createHost, type Host, MAX_PENDING } from './host.ts';
import { abandonedIn, PREFIX, repeatsIn } from './ledger.ts';
import type { ClientKind } from './redisClient.ts';
import { createStage, type Stage } from './stage.ts';

export const TARGETS = ['relay 1', 'relay 2', 'Redis', 'Redis and its keys'] as const;
export type Target = (typeof TARGETS)[number];

/** Kills `target` at the moment number `at`. A moment is the end of a task, or comes before an effect of a relay. */
export interface Kill {
  readonly target: Target;
  readonly at: number;
}

export interface Outcome {
  readonly broken: readonly Broken[];
  readonly moments: number;
  /** For each event that was stored again, the reason. */
  readonly excuses: readonly string[];
}

/** All clients have a success long before this time, in ms. */
const HORIZON = 300_000;
const KINDS: readonly ClientKind[] = ['rejects', 'queues', 'resends'];

const weather = (world: World) =>
  world.random.fork('weather').chance(0.5) ? FAIR : { ...FAIR, lostBefore: 0.08, lostAfter: 0.12 };

/** Ends the target, and starts it again later. */
const killerOf = (stage: Stage, hosts: readonly Host[], target: Target) => {
  const { world, redis } = stage;
  const random = world.random.fork('kill');
  return () => {
    const later = random.between(5, 4000);
    if (target.startsWith('Redis')) {
      redis.kill(random.chance(0.3));
      world.scheduler.after(later, 'redis comes back', () => redis.restart(target !== 'Redis'));
      return;
    }
    const host = hosts[target === 'relay 1' ? 0 : 1];
    host?.kill();
    world.scheduler.after(later, 'relay comes back', () => host?.start());
  };
};

/** In half of the worlds, the service answers 503 for some time. */
const disturb = ({ world, service }: Stage) => {
  const random = world.random.fork('service');
  if (random.chance(0.5)) return;
  const from = random.between(0, 100);
  world.scheduler.after(from, 'service fails', () => {
    service.mood = { status: 503, retryAfter: '1' };
  });
  world.scheduler.after(from + random.between(50, 3000), 'service is well', () => {
    service.mood = {};
  });
};

const check = ({ world, ledger, service }: Stage, events: readonly SentEvent[], clients: Clients) => {
  if (!clients.areDone()) world.break('each client reads a success', `not within ${HORIZON} ms`);
  const stored = new Set(service.stored.map(({ uuid }) => uuid));
  for (const { uuid, event } of events) if (!stored.has(uuid)) world.break('no event is lost', event);
  for (const fault of repeatsIn(ledger.entries).faults) world.break('an event is stored once', fault);
  for (const fault of abandonedIn(ledger.entries)) world.break('a relay gives up its reservations', fault);
};

/** One event of the page load is lost. A Redis that has lost its keys cannot know that, and must not miss any other event. */
const checkBooks = ({ world, ledger, redis }: Stage) => {
  const account = redis.read(`{${PREFIX}books}:load:${LOAD}`);
  const { missing = 0, unknown = 0 } = account ? countsOf(JSON.parse(account) as Load) : {};
  const isEmptied = ledger.entries.some(({ what }) => what === 'redis emptied');
  if (missing > 1 || (missing < 1 && !isEmptied) || unknown)
    world.break('the books miss what is lost', `${missing} missing, ${unknown} unknown`);
};

/**
 * Two relays with one Redis before a service that keeps duplicates, and clients that send again until they read a success.
 *
 * @param program `dist/relay.js`
 * @param print receives the lines of the timeline
 */
export const playRelays = async (
  program: Program,
  seed: number,
  kill?: Kill,
  print?: (line: string) => void,
): Promise<Outcome> => {
  const world = createWorld(seed, print);
  const stage = createStage(world, program);
  stage.back.conditions = weather(world);
  let moments = 0;
  let strike = () => {};
  const pass = () => {
    if (++moments === kill?.at) strike();
  };
  const kinds = world.random.fork('kinds');
  const hosts = RELAYS.map((_, n) => createHost(stage, `relay${n + 1}`, kinds.pick(KINDS), pass));
  if (kill) strike = killerOf(stage, hosts, kill.target);
  const front = createNetwork(world, Object.fromEntries(RELAYS.map((url, n) => [url, (hosts[n] as Host).serve])));
  front.conditions = stage.back.conditions;
  const random = world.random.fork('events');
  const events = createEvents(random);
  const confirm = ({ uuid, event }: SentEvent) => {
    if (!stage.service.stored.some((stored) => stored.uuid === uuid)) world.break('a confirmed event is stored', event);
  };
  disturb(stage);
  const play = async (batches: SentEvent[][], isClosed?: boolean) => {
    const clients = startClients(world, front, batches, confirm, isClosed);
    const end = world.scheduler.now() + HORIZON;
    while (await world.scheduler.step(end)) pass();
    return clients;
  };
  const clients = await play(createBatches(random, events));
  // Enough requests that each relay adds the facts that Redis has not taken.
  for (let times = 0; times < 2; times++)
    await play(
      Array.from({ length: 8 }, () => []),
      true,
    );
  checkBooks(stage);
  world.scheduler.skipTo(world.scheduler.now() + MAX_PENDING);
  stage.redis.sweep();
  // All reservations have expired, so the relays confirm the same events as duplicates at once.
  front.conditions = FAIR;
  const after = await play([events, events.toReversed()]);
  check(stage, events, clients);
  if (!after.areDone()) world.break('a reservation ends', `not within ${HORIZON} ms`);
  return { broken: world.broken, moments, excuses: repeatsIn(stage.ledger.entries).excuses };
};
