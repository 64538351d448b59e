import { attemptWith } from '../api/attemptWith.js';
import { IDENTIFY } from '../wire.js';
import { draftEvent, type ItemText, isName } from './event.js';
import { runSteps, type Step } from './prepare.js';

/** A call of `track`, in ms since the recorder's start, with its payload as JSON and the id that the stub has given it. */
type Call = [since: number, name: string, payload: string | undefined, isSingle: boolean, id: string | undefined];
/** How many places a call takes in the list of calls: a list for each of them would be garbage, thousands in a burst. */
const FIELDS = 5;

/**
 * How many calls of a task are processed within the call. Only the rest of a burst waits. WebKit completes a transaction in
 * `pagehide` only if it began early enough.
 */
const AT_ONCE = 50;
/** How long (ms) a later task processes calls. On a cheap phone, four times slower, that is still no long task. */
export const SLICE = 6;
/** How long (ms) after its first call the calling task goes on to process calls. A task over 50 ms is a long one. */
const BURST = 24;
/** A call with more characters of payload is processed at once, because waiting calls need memory. */
const MOST_WAITING = 1e3;

/** A call, which may have been made earlier. */
export interface Made {
  /** When it was made, in ms since the epoch. */
  readonly at: number;
  /** The id of its event, if it has one already: a page that has left has saved the call. */
  readonly id?: string | undefined;
  /** The call was made before this page had arrived. */
  readonly isBefore?: boolean | undefined;
}

/**
 * The call that is being replayed. Only the first caller gets its id. Calls of listeners meanwhile have its time, so that all calls are in
 * order, and ids of their own.
 */
export type Replay = () => Made | undefined;

/** Calls that are made now. */
export const LIVE: Replay = () => undefined;

export interface RecorderPorts {
  /** The call that is being made. */
  made(): Made;
  /** The steps of an event in the call that tracks it. */
  readonly steps: readonly Step[];
  /** Whether more events wait than the queue may hold. */
  isFull(): boolean;
  /** An event was tracked. */
  begin(): void;
  /** These events were dropped. */
  end(texts: readonly ItemText[], reason: 'unserialisable' | 'rejected' | 'filtered'): void;
  /** This event is complete. A dropped event has its name only. */
  onTracked(text: ItemText): void;
  fail(error: unknown): void;
  /** Calls are about to be taken. */
  start(): void;
  /** Takes a finished event that does not know its visitor yet. */
  take(text: ItemText, isSingle: boolean): void;
  /** The task ends, or a slice of a burst. */
  rest(): void;
}

export interface Recorder {
  /** @param call when it is made, if that is known already */
  track(event: unknown, payload: unknown, isSingle?: boolean, call?: Made): void;
  /** How many tracked events are still being made. */
  making(): number;
  /** Works on all calls that wait. Every other method begins with it, so that all calls are in order. */
  drain(): void;
}

/** From the call to a finished event. In a burst, the call only takes a snapshot, so that the page's own work goes on. */
export const createRecorder = (ports: RecorderPorts): Recorder => {
  const { steps, made, begin, end, fail } = ports;
  /** The times of calls count from here, because V8 allocates an object for each large number in a list. */
  const started = Date.now();
  /** The calls of `track` in this task, one behind the other, and how many fields of them are processed. */
  const calls: Call[number][] = [];
  let taken = 0;
  /** How many tracked events are not complete: those in `calls`, and those in their steps. */
  let making = 0;
  /** How many calls there were in this task. */
  let burst = 0;

  const take = (...[since, name, payload, isSingle, id]: Call) => {
    const at = started + since;
    const draft = draftEvent(at, name, payload, id);
    const faults: unknown[] = [];
    const attempt = attemptWith((fault) => faults.push(fault));
    const text = runSteps(steps, draft, attempt);
    // The report of a dropped event has its name only, since `beforeSend` may have dropped it for its payload.
    const seen = text || draftEvent(at, name);
    ports.onTracked(seen);
    making--;
    if (text) ports.take(text, isSingle);
    else end([seen], 'filtered');
    // Afterwards: a listener may call `identify` or `reset`, and the event belongs to the visitor before.
    for (const fault of faults) fail(fault);
  };

  const drain = (until = Number.POSITIVE_INFINITY) => {
    ports.start();
    while (taken < calls.length) {
      if (Date.now() > until) {
        setTimeout(drainSoon);
        break;
      }
      taken += FIELDS;
      take(...(calls.slice(taken - FIELDS, taken) as Call));
    }
    if (taken < calls.length) return;
    calls.length = 0;
    taken = 0;
  };
  /** Lets the page's own work go ahead in between. */
  const drainSoon = (until = Date.now() + SLICE) => {
    burst = 0;
    // Each drain reads localStorage and the cookie.
    if (calls[0] !== undefined) drain(until);
    ports.rest();
  };

  return {
    track(event, payload, isSingle = false, { at, id } = made()) {
      begin();
      making++;
      const name = isName(event) ? event : '';
      let text: string | undefined;
      try {
        if (!name) throw Error(`track: expected a name, and not ${IDENTIFY}`);
        text = JSON.stringify(payload);
      } catch (error) {
        drain();
        making--;
        end([draftEvent(at, name)], name ? 'unserialisable' : 'rejected');
        // Afterwards: a listener may refuse, and that ends all events that have no end yet.
        return fail(error);
      }
      calls.push(at - started, name, text, isSingle, id);
      if (!burst++) Promise.resolve(Date.now() + BURST).then(drainSoon);
      // A step may read data that change in a moment. The bound of the queue also holds for calls that wait.
      const isDue = steps[0] || ports.isFull() || (text && text.length > MOST_WAITING);
      if (isDue || (burst <= AT_ONCE && calls.length === FIELDS)) drain();
    },
    making: () => making,
    drain: () => drain(),
  };
};
