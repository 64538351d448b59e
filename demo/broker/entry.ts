import type { ForwardRequest } from '../../src/relay.ts';
import { BATCH_PATH, EVENT_PATH, IDENTIFY, isObject, parseJson, UPSERT_PATH } from '../../src/wire.ts';

/** An entry of the stream: what one relay has appended. */
export interface Entry {
  /** Redis's own: ms since the epoch, a dash, a number. */
  readonly id: string;
  readonly path: ForwardRequest['path'];
  /** What may travel apart: the JSON of its events, or of the upsert. */
  readonly units: readonly string[];
  /** Which of them have been answered for. */
  readonly settled: Set<number>;
}

/** One of an entry's units. */
export interface Unit {
  readonly entry: Entry;
  readonly at: number;
}

/** An entry as it stands in the stream, or nothing when it is none of a relay's. */
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

/** From then on (ms) what was for the single-event endpoint, where the service takes the moment of arrival, goes in a batch. */
const LATE = 5000;

/** A late single event with the time at which it was appended, which the relay has not passed on and Redis has. */
const datedText = (unit: Unit, now: number): string | undefined => {
  const at = Number.parseInt(unit.entry.id, 10);
  const event = unit.entry.path === EVENT_PATH && now - at > LATE ? parseJson<unknown>(textOf(unit)) : undefined;
  // In a batch it would make somebody a customer, which it does not there.
  if (!isObject(event) || event.event === IDENTIFY) return;
  return JSON.stringify({ timestamp: new Date(at).toISOString(), ...event });
};

/** A request, and which units it holds. */
export interface Cut {
  readonly request: ForwardRequest;
  readonly units: readonly Unit[];
  readonly bytes: number;
}

/** The next request: units of the first one's entry, in order, of at most so many bytes; the first always goes. */
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
