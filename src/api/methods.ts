import { v4 as uuid } from 'uuid';
import { pageContext } from '../page/context.js';
import { draftEvent, draftUpsert } from '../recorder/event.js';
import type { Made, Recorder } from '../recorder/recorder.js';
import type { Call } from '../visitor/calls.js';
import { IDENTIFY, isObject } from '../wire.js';
import type { Listen } from './signals.js';
import type { Plugin, Stats, Tracker } from './types.js';

export interface MethodPorts {
  /** The call that is being made. Each method asks first, because a listener may make other calls meanwhile. */
  made(): Made;
  readonly recorder: Recorder;
  readonly on: Listen;
  readonly counts: Stats;
  /** A service checks no signature. */
  readonly isDirect: boolean;
  /**
   * Takes a call that needs the visitor.
   *
   * @param isBefore whether it was made before this page had arrived
   */
  enter(call: Call, isBefore?: boolean): void;
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
  const { recorder, on, counts, isDirect, made, enter, flush, attempt, fail } = ports;
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
  const setProperties = (properties: unknown, at: number) => {
    const text = attempt(() => draftUpsert(properties));
    if (text) ports.setProperties({ text, at });
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
      const { at, id, isBefore } = made();
      recorder.drain();
      if (typeof primaryKey !== 'string' || !primaryKey) return fail('identify: expected a non-empty string');
      const given = attempt(() => {
        const { signature } = fieldsOf(options, 'identify: options');
        if (typeof (signature ?? '') !== 'string') throw Error('identify: signature: expected a string');
        return { signature: isDirect ? undefined : signature };
      });
      if (!given) return;
      const text = draftEvent(at, IDENTIFY, JSON.stringify({ distinct_id: primaryKey }), id);
      enter({ text, fresh: id ?? uuid(), at, key: primaryKey, ...given }, isBefore);
      write();
      if (properties != null) setProperties(properties, at);
    },
    setProperties(properties) {
      const { at } = made();
      recorder.drain();
      setProperties(properties, at);
    },
    page(overrides) {
      const call = made();
      const properties = { ...attempt(pageContext), ...attempt(() => ({ ...fieldsOf(overrides, 'page') })) };
      recorder.track('page_view', properties, false, call);
    },
    reset() {
      const { at, id, isBefore } = made();
      recorder.drain();
      enter({ fresh: id ?? uuid(), at }, isBefore);
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
    use(plugin) {
      recorder.drain();
      ports.use(plugin);
    },
    on,
    stop: ports.stop,
  };
};
