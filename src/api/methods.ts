import { v4 as uuid } from 'uuid';
import { pageContext } from '../page/context.js';
import { draftEvent, draftUpsert } from '../recorder/event.js';
import type { Recorder, Replay } from '../recorder/recorder.js';
import type { Call } from '../visitor/calls.js';
import { IDENTIFY, isObject } from '../wire.js';
import type { Listen } from './signals.js';
import type { Plugin, Stats, Tracker } from './types.js';

export interface MethodPorts extends Pick<Replay, 'replayedId'> {
  /** When the call is made, in ms since the epoch. */
  clock(): number;
  readonly recorder: Recorder;
  readonly on: Listen;
  readonly counts: Stats;
  /** A service checks no signature. */
  readonly isDirect: boolean;
  /** Takes a call that needs the visitor. */
  enter(call: Call): void;
  /** Takes properties, if there is room for them. */
  setProperties(call: Call): void;
  /** Journals the changes that the database may lack. */
  rest(): void;
  /** Takes the visitor's answer, for all tabs. */
  answer(isGranted: boolean): void;
  flush(isForced?: boolean): Promise<void>;
  visitorId(): Promise<string>;
  use(plugin: Plugin): void;
  stop(): void;
  attempt<T>(run: () => T): T | '';
  fail(message: string): void;
}

/** The fields of an argument that may be missing. Throws if it is no object. */
const fieldsOf = <T extends object>(argument: T | null | undefined, name: string): Partial<T> => {
  if (argument != null && !isObject(argument)) throw Error(`${name}: expected an object`);
  return argument ?? {};
};

/** The methods of a tracker. Every method first processes the calls of `track` that wait, so that all calls are in order. */
export const createMethods = (ports: MethodPorts): Tracker => {
  const { recorder, use, on, counts, isDirect, clock, replayedId, enter, flush, attempt, fail } = ports;
  let isDue = false;
  /** Journals once for all calls of a task, because each write has all calls that wait. */
  const write = () => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      ports.rest();
    });
  };
  const setProperties = (properties: unknown) => {
    const text = attempt(() => draftUpsert(properties));
    if (text) ports.setProperties({ text, at: clock() });
    write();
  };
  return {
    track: (event, payload?: unknown) => recorder.track(event, payload),
    trackNow(event, payload?: unknown) {
      recorder.track(event, payload, true);
      recorder.drain();
      return flush();
    },
    identify(primaryKey, properties, options) {
      recorder.drain();
      if (typeof primaryKey !== 'string' || !primaryKey) return fail('identify: expected a non-empty string');
      const given = attempt(() => {
        const { signature } = fieldsOf(options, 'identify: options');
        if (typeof (signature ?? '') !== 'string') throw Error('identify: signature: expected a string');
        return { signature: isDirect ? undefined : signature };
      });
      if (!given) return;
      enter({
        text: draftEvent(clock(), IDENTIFY, JSON.stringify({ distinct_id: primaryKey }), replayedId()),
        fresh: replayedId() ?? uuid(),
        at: clock(),
        key: primaryKey,
        ...given,
      });
      write();
      if (properties != null) setProperties(properties);
    },
    setProperties(properties) {
      recorder.drain();
      setProperties(properties);
    },
    page: (overrides) => {
      recorder.track('page_view', { ...attempt(pageContext), ...attempt(() => ({ ...fieldsOf(overrides, 'page') })) });
    },
    reset() {
      recorder.drain();
      enter({ fresh: replayedId() ?? uuid(), at: clock() });
      write();
    },
    consent(isGranted) {
      recorder.drain();
      if (typeof isGranted !== 'boolean') return fail('consent: expected a boolean');
      ports.answer(isGranted);
    },
    flush() {
      recorder.drain();
      return flush(true);
    },
    correlationValue: ports.visitorId,
    stats: () => structuredClone(counts),
    use,
    on,
    stop: ports.stop,
  };
};
