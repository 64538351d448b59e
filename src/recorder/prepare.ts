import { IDENTIFY, isObject } from '../wire.js';
import { type ItemText, isName } from './event.js';

/** An event as `beforeSend` receives it. `beforeSend` may change this copy. */
export interface TrackedEvent {
  /** A non-empty name, and not `$identify`. */
  event: string;
  /** The payload as JSON, including the properties of `context`. Missing if the event has no payload. */
  payload?: unknown;
}

/** An event as a plugin sees it. */
export interface SeenEvent extends Readonly<TrackedEvent> {
  /** When the event happened (ISO 8601). A call that clew replays has its own time. */
  readonly timestamp: string;
}

/**
 * Changes an event within the call that tracks it. Returning `null` or `undefined` drops the event.
 *
 * @param passed returns a copy of the payload that the app passed, without the properties of `context`
 */
export type BeforeSend = (event: TrackedEvent, passed: () => unknown) => TrackedEvent | null | undefined;

/**
 * Changes an event's text in the call, before it is stored. Returns another text, or '' to drop the event. May throw.
 *
 * @param draft the text before all steps
 * @param attempt returns the result of its function, or '' if that throws. The error is reported.
 */
export type Step = (text: ItemText, draft: ItemText, attempt: <T>(read: () => T) => T | '') => ItemText;

/** Runs all steps of an event. Returns its text, or '' if a step has dropped it or thrown. */
export const runSteps = (
  steps: readonly Step[],
  draft: ItemText,
  attempt: <T>(run: () => T) => T | '',
): ItemText | '' =>
  attempt(() => {
    let text: ItemText | '' = draft;
    for (const step of steps) text = text && step(text, draft, attempt);
    return text;
  });

/**
 * Adds the properties that `see` returns to a payload that is an object or missing. The payload's own properties count. `false` drops
 * the event.
 */
export const addContext =
  (see: (event: SeenEvent) => object | false | undefined): Step =>
  (text, _draft, attempt) => {
    const event = JSON.parse(text);
    const { payload = {} } = event;
    // A context that throws, or that JSON cannot express, is left out. The event stays.
    const context = attempt(() => see(event));
    if (context === false) return '';
    const added = () => JSON.stringify({ ...event, payload: { ...context, ...payload } });
    return (context && isObject(payload) && attempt(added)) || text;
  };

/** Lets `beforeSend` see the event, and takes nothing but an event from it. */
export const filter =
  (beforeSend: BeforeSend): Step =>
  (text, draft) => {
    const all = JSON.parse(text);
    const { event, payload } = all;
    const kept = beforeSend({ event, payload }, () => JSON.parse(draft).payload);
    if (!kept) return '';
    if (!isName(kept.event))
      throw Error(`beforeSend: expected an event other than ${IDENTIFY}, or null, and no promise`);
    return JSON.stringify({ ...all, event: kept.event, payload: kept.payload });
  };

/** The options that ask for steps. */
interface Steps {
  readonly context?: (() => object) | undefined;
  readonly beforeSend?: BeforeSend | undefined;
}

/** The steps that the options ask for. */
export const stepsOf = ({ context, beforeSend }: Steps): Step[] =>
  [context && addContext(context), beforeSend && filter(beforeSend)].filter((step) => !!step);
