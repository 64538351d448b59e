import type { ForwardRequest } from '../../src/relay.ts';
import { BATCH_PATH, EVENT_PATH, IDENTIFY, isObject, parseJson, UPSERT_PATH } from '../../src/wire.ts';

/** An entry of the stream: one request that a relay has appended. */
export interface Entry {
  /** Id by Redis: ms since the epoch, a dash, a number. */
  readonly id: string;
  readonly path: ForwardRequest['path'];
  /** The parts that can be sent separately: the JSON of each event, or of the upsert. */
  readonly units: readonly string[];
  /** Indexes of the units that are confirmed or dropped. */
  readonly settled: Set<number>;
}

/** One of an entry's units. */
export interface Unit {
  readonly entry: Entry;
  readonly at: number;
}

/** Reads an entry of the stream. Returns `undefined` if no relay can have appended it. */
export const entryOf = (id: string, { path: named, body = '' }: Record<string, string>): Entry | undefined => {
  const path = ([UPSERT_PATH, BATCH_PATH, EVENT_PATH] as const).find((known) => known === named);
  const parsed = parseJson<unknown>(body);
  if (!path || !isObject(parsed)) return;
  const events: unknown = path === BATCH_PATH ? parsed.batch : [parsed];
  if (!Array.isArray(events) || !events[0]) return;
  return { id, path, units: events.map((event) => JSON.stringify(event)), settled: new Set() };
};

export const openUnits = (entry: Entry): Unit[] =>
  entry.units.flatMap((_, at) => (entry.settled.has(at) ? [] : [{ entry, at }]));

const textOf = ({ entry, at }: Unit): string => entry.units[at] ?? '';

/** The age (ms) at which a single event goes in a batch, because the single-event endpoint sets the time of arrival. */
const LATE = 5000;

/** A late single event with the time at which it was appended. That time is in the id by Redis. */
const datedText = (unit: Unit, now: number): string | undefined => {
  const at = Number.parseInt(unit.entry.id, 10);
  const event = unit.entry.path === EVENT_PATH && now - at > LATE ? parseJson<unknown>(textOf(unit)) : undefined;
  // In a batch, an `$identify` would tie the visitor id to a customer. The single-event endpoint does not do that.
  if (!isObject(event) || event.event === IDENTIFY) return;
  return JSON.stringify({ timestamp: new Date(at).toISOString(), ...event });
};

/** A request, and its units. */
export interface Cut {
  readonly request: ForwardRequest;
  readonly units: readonly Unit[];
  readonly bytes: number;
}

/** The next request: units of the first unit's entry, in order, of at most `most` bytes. The first unit may be larger. */
export const nextCut = (units: readonly Unit[], most: number, now: number): Cut | undefined => {
  const [first] = units;
  if (!first) return;
  const dated = datedText(first, now);
  const isBatch = dated !== undefined || first.entry.path === BATCH_PATH;
  const taken: Unit[] = [];
  const texts: string[] = [];
  let bytes = '{"batch":[]}'.length - 1;
  for (const unit of units) {
    const text = dated ?? textOf(unit);
    bytes += Buffer.byteLength(text) + 1;
    if (taken[0] && (unit.entry !== first.entry || !isBatch || bytes > most)) break;
    taken.push(unit);
    texts.push(text);
  }
  const body = isBatch ? `{"batch":[${texts}]}` : textOf(first);
  return {
    request: { path: isBatch ? BATCH_PATH : first.entry.path, body },
    units: taken,
    bytes: Buffer.byteLength(body),
  };
};
