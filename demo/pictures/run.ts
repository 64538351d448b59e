/** A run of a page and a service that fails for a while. All times are seconds from its start. */
export interface Run {
  /** When the recording ends. */
  length: number;
  /** When the service begins to answer 500, and when it stops. */
  outage: { from: number; to: number };
  events: TimedEvent[];
  /** How many events wait in the page, by the tracker's `stats()`: each change. */
  queued: Change[];
  /** How many events the service has stored: each change. */
  stored: Change[];
  /** The answers to the page's requests. */
  answers: { at: number; status: number }[];
}

export interface TimedEvent {
  tracked: number;
  stored: number;
}

export interface Change {
  at: number;
  value: number;
}

/** The samples in which a value differs from the one before. */
export const changesOf = (samples: readonly Change[]): Change[] =>
  samples.filter(({ value }, index) => value !== samples[index - 1]?.value);

/** The figures that a picture names. */
export const totalsOf = ({ events, queued, stored }: Run) => {
  const mostQueued = Math.max(...queued.map(({ value }) => value));
  return {
    tracked: events.length,
    stored: stored.at(-1)?.value ?? 0,
    mostQueued,
    /** When the most events were waiting. */
    peak: queued.find(({ value }) => value === mostQueued)?.at ?? 0,
    /** When the last event was stored. */
    done: stored.at(-1)?.at ?? 0,
  };
};
