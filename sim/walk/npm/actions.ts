/** How an app's own transport treats requests: it passes them on, or fails a half of them. */
export type Transporting = 'passes' | 'rejects' | 'rejectsLate' | 'throws' | 'refuses';

/** What `beforeSend` does with a third of the events. */
export type Filtering = 'keeps' | 'drops' | 'throws' | 'spoils';

/** What an app's listener does when it is called. */
export type Reaction = 'throws' | 'tracks' | 'identifies' | 'flushes' | 'stops';

/** What only an app can do that imports clew. In a page with the script tag the tracker is its only one. */
export type NpmAction =
  | { readonly verb: 'trackOther'; readonly tab: number; readonly count: number }
  /** One service has the person first; the other one `ms` later, as the visitor leaves. */
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
