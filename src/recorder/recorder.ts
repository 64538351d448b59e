import { IDENTIFY } from '../wire.js';
import { draftEvent, type ItemText, isName } from './event.js';
import type { Step } from './prepare.js';

/** A call of `track`, in ms since the recorder's start, with its payload as JSON and the id that the stub has given it. */
type Call = [since: number, name: string, payload: string | undefined, isSingle: boolean, id: string | undefined];
/** How many places a call takes in the list of calls: a list for each of them would be garbage, thousands in a burst. */
const FIELDS = 5;

/**
 * So many calls of a task go their way within the call, and only a burst waits: a transaction that is begun a moment earlier
 * is the one that WebKit completes although the page is going away.
 */
const AT_ONCE = 50;
/** How long (ms) calls are worked on at a time: four times slower, on a cheap phone, that is still no long task. */
export const SLICE = 6;
/** In the task that called they are worked on until so long (ms) after the first call: a task of 50 ms is a long one. */
const BURST = 24;
/** A payload of more characters does not wait for its turn. */
const MOST_WAITING = 1e3;

/** The call that is being made, which may have been made earlier and be replayed. */
export interface Replay {
  /** When it was made, in ms since the epoch; undefined for a call that is made now. */
  replayedAt(): number | undefined;
  /** The id of its event, if it has one already. */
  replayedId(): string | undefined;
}

/** Calls that are made now. */
export const LIVE: Replay = { replayedAt: () => undefined, replayedId: () => undefined };

export interface RecorderPorts extends Pick<Replay, 'replayedId'> {
  /** When the call is made, in ms since the epoch. */
  clock(): number;
  /** What an event goes through in the call that tracks it. */
  readonly steps: readonly Step[];
  /** What waits is bounded like what is queued: is it more already? */
  isFull(): boolean;
  /** An event was tracked. */
  begin(): void;
  /** It was dropped. */
  end(texts: readonly ItemText[], reason: 'unserialisable' | 'rejected' | 'filtered'): void;
  /** This event was made, or this much of one that was dropped. */
  onTracked(text: ItemText): void;
  /** Returns what `run` returns, or '' if it throws, which is reported. */
  attempt<T>(run: () => T): T | '';
  fail(error: unknown): void;
  /** Calls are about to be taken. */
  start(): void;
  /** Takes a finished event that does not know its visitor yet. */
  take(text: ItemText, isSingle: boolean): void;
  /** The task ends, or a slice of a burst. */
  rest(): void;
}

export interface Recorder {
  track(event: unknown, payload: unknown, isSingle?: boolean): void;
  /** How many tracked events have not gone their way yet. */
  making(): number;
  /** Works on all calls that wait. Every other method begins with it, so that all calls are in order. */
  drain(): void;
}

/** From the call to a finished event. In a burst, the call takes a snapshot and no more: the page's own work goes on. */
export const createRecorder = (ports: RecorderPorts): Recorder => {
  const { steps, clock, begin, end, attempt, fail } = ports;
  /** Calls are timed from here: in a list a number that is not small is an object, thousands of them in a burst. */
  const started = Date.now();
  /** What has been tracked in this task, one call behind the other, and how much of it has gone its way. */
  const calls: Call[number][] = [];
  let taken = 0;
  /** How many tracked events have not gone their way yet: those of `calls`, and those whose steps are at work. */
  let making = 0;
  /** How many calls there were in this task. */
  let burst = 0;

  const take = (...[since, name, payload, isSingle, id]: Call) => {
    const at = started + since;
    const draft = draftEvent(at, name, payload, id);
    const text = attempt(() => steps.reduce((text, step) => text && step(text, draft, attempt), draft));
    // Of what was dropped nobody is to see more than the name.
    const seen = text || draftEvent(at, name);
    ports.onTracked(seen);
    if (text) ports.take(text, isSingle);
    else end([seen], 'filtered');
    making--;
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
    // To begin costs a look at localStorage and the cookie.
    if (calls[0] !== undefined) drain(until);
    ports.rest();
  };

  return {
    track(event, payload, isSingle = false) {
      const at = clock();
      begin();
      making++;
      const name = isName(event) ? event : '';
      let text: string | undefined;
      try {
        if (!name) throw Error(`track: expected a name other than ${IDENTIFY}`);
        text = JSON.stringify(payload);
      } catch (error) {
        drain();
        making--;
        fail(error);
        return end([draftEvent(at, name)], name ? 'unserialisable' : 'rejected');
      }
      calls.push(at - started, name, text, isSingle, ports.replayedId());
      if (!burst++) Promise.resolve(Date.now() + BURST).then(drainSoon);
      // What a step looks at may be another one in a moment; and what waits is bounded like what is queued.
      const isDue = steps[0] || ports.isFull() || (text && text.length > MOST_WAITING);
      if (isDue || (burst <= AT_ONCE && calls.length === FIELDS)) drain();
    },
    making: () => making,
    drain: () => drain(),
  };
};
