import type { Signals } from '../api/signals.js';
import { type Model, newModel } from './model.js';
import { type Inspectable, subjectOf } from './subject.js';
import { count, update } from './update.js';

const SIGNALS = ['trace', 'delivered', 'dropped', 'error'] as const;

/** How many events between two looks are a burst. A tracker works off a burst in slices, and asking for its sums would end that. */
const BURST = 50;

/** An inspector's listening to a tracker. */
export interface Session {
  readonly model: Model;
  /** Brings the sums up to date, unless a burst is being worked off. */
  look(): void;
  stop(): void;
}

/** @param changed called for every signal of the tracker */
export const watch = (tracker: Inspectable, changed: () => void): Session => {
  const { now } = Date;
  const subject = subjectOf(tracker);
  const model = newModel(now());
  let looked = 0;
  const look = () => {
    const tracked = model.stats.tracked;
    const isBurst = tracked - looked > BURST;
    looked = tracked;
    if (isBurst) return changed();
    const stats = subject.stats();
    if (stats) count(model, now(), stats);
    looked = model.stats.tracked;
  };
  look();
  const undoings = SIGNALS.map((signal) =>
    subject.on(signal, (value: Signals[typeof signal]) => {
      update(model, now(), signal, value);
      changed();
    }),
  );
  return {
    model,
    look,
    stop() {
      for (const undo of undoings) undo();
    },
  };
};
