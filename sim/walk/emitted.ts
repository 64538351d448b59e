import type { Stats } from '../../src/api/types.ts';

/** An event that a page has emitted as delivered, or as dropped for a reason. */
export interface Emitted {
  readonly page: string;
  readonly uuid: string;
  readonly event: string | undefined;
  readonly n: number | undefined;
  readonly visitorId: string | undefined;
  readonly at: number;
  /** Undefined for an event that is delivered. */
  readonly reason: string | undefined;
}

/** How many events have ended: delivered, and dropped. */
export interface Ends {
  readonly delivered: number;
  readonly dropped: number;
}

const NONE: Ends = { delivered: 0, dropped: 0 };

/** How many events have ended by these counts of a page's trackers. */
export const endsIn = (counts: readonly Stats[]): Ends => ({
  delivered: counts.reduce((sum, { delivered }) => sum + delivered, 0),
  dropped: counts.reduce((sum, { dropped }) => sum + Object.values(dropped).reduce((all, one) => all + one, 0), 0),
});

/** The signals `delivered` and `dropped` of all pages. */
export interface SignalLog {
  readonly emitted: readonly Emitted[];
  /** The walk begins to listen to a page, whose trackers have counted so much before. */
  begin(page: string, before: Ends): void;
  note(one: Emitted): void;
  /** How many events of the page have ended by its signals, and by its counts before. Undefined until the walk listens to the page. */
  endsOf(page: string): Ends | undefined;
}

export const createSignalLog = (): SignalLog => {
  const emitted: Emitted[] = [];
  const ends = new Map<string, Ends>();
  return {
    emitted,
    begin: (page, before) => void ends.set(page, before),
    note(one) {
      emitted.push(one);
      const { delivered, dropped } = ends.get(one.page) ?? NONE;
      const isDropped = one.reason !== undefined;
      ends.set(one.page, { delivered: delivered + Number(!isDropped), dropped: dropped + Number(isDropped) });
    },
    endsOf: (page) => ends.get(page),
  };
};
