import { countsOf, type Load } from '../../src/relay/load.ts';
import { type Ranges, union } from '../../src/relay/ranges.ts';
import { type NetworkRequest, textOf } from '../server/network.ts';
import type { Stage } from './stage.ts';

/** Names an event by its page load and its number there. */
type Seq = string;

interface Numbered {
  readonly uuid?: string;
  readonly seq?: readonly [load: number, n: number];
}

/** The numbers of a page load that its account calls missing. */
const missingOf = (load: string, { closed, delivered, dropped, forgotten, summed }: Load): Seq[] => {
  const known = [...Object.values(dropped), forgotten ? [1, forgotten] : [], summed?.ended ?? []];
  const ended = known.reduce<Ranges>(union, delivered);
  const isEnded = (n: number) => ended.some((first, at) => at % 2 === 0 && first <= n && n <= (ended[at + 1] ?? 0));
  return Array.from({ length: closed }, (_, at) => at + 1).flatMap((n) => (isEnded(n) ? [] : `${load} ${n}`));
};

/** The accounts of a relay, as `seen` has them, and all events that they have ever called missing. */
export const createAccounts = () => {
  const loads = new Map<string, Load>();
  const alarms = new Set<Seq>();
  return {
    note(load: string, account: string) {
      const parsed: Load = JSON.parse(account);
      loads.set(load, parsed);
      for (const seq of missingOf(load, parsed)) alarms.add(seq);
    },
    alarms: (): ReadonlySet<Seq> => alarms,
    missing: (): Set<Seq> => new Set([...loads].flatMap(([load, account]) => missingOf(load, account))),
    unknown: () => [...loads.values()].reduce((sum, load) => sum + (countsOf(load).unknown ?? 0), 0),
    tracked: () => [...loads.values()].reduce((sum, load) => sum + (countsOf(load).tracked ?? 0), 0),
  };
};

export type Accounts = ReturnType<typeof createAccounts>;

/** The events with numbers in a request, or in a row. */
export const numberedIn = (request: NetworkRequest): readonly (readonly [seq: Seq, uuid: string])[] => {
  const body = JSON.parse(textOf(request)) as Numbered & { batch?: readonly Numbered[] };
  return (body.batch ?? [body]).flatMap(({ uuid, seq }) => (uuid && seq ? [[seq.join(' '), uuid] as const] : []));
};

/** An event that the relay has called missing, although it arrived then or later. */
export const findFalseAlarm = ({ relay, otherRelay, network, service }: Stage): string | undefined => {
  const alarms = new Set([relay, otherRelay].flatMap((one) => [...(one?.accounts.alarms() ?? [])]));
  if (!alarms.size) return undefined;
  const stored = new Set(service.stored.flatMap(({ uuid, isConfirmed }) => (isConfirmed ? uuid : [])));
  for (const { request, from } of network.requests)
    for (const [seq, uuid] of from.startsWith('page') ? numberedIn(request) : [])
      if (alarms.has(seq) && stored.has(uuid)) return `${uuid} (${seq}) has arrived`;
  return undefined;
};
