/** How an app's own transport treats requests: it passes them on, or fails a half of them. */
export type Transporting = 'passes' | 'rejects' | 'rejectsLate' | 'throws' | 'refuses';

/** How `beforeSend` treats a third of the events. */
export type Filtering = 'keeps' | 'drops' | 'throws' | 'spoils';

/** The reaction of an app's listener to each report. */
export type Reaction = 'throws' | 'tracks' | 'identifies' | 'flushes' | 'stops';

/** Actions of an app that imports clew. A page with the script tag has one tracker for all of them. */
export type NpmAction =
  | { readonly verb: 'trackOther'; readonly tab: number; readonly count: number }
  /** The page identifies the person at its first service, and `ms` later at the other one, as the visitor leaves. */
  | { readonly verb: 'identifyInTurn'; readonly tab: number; readonly person: string; readonly ms: number }
  | { readonly verb: 'trickle'; readonly tab: number; readonly ms: number }
  | { readonly verb: 'stop'; readonly tab: number }
  | { readonly verb: 'transport'; readonly kind: Transporting }
  | { readonly verb: 'beforeSend'; readonly kind: Filtering }
  | {
      readonly verb: 'listen';
      readonly tab: number;
      readonly signal: 'delivered' | 'dropped' | 'error';
      readonly reaction: Reaction;
    };
