import { inTime, Late } from '../service/inTime.js';

/** Starts the work, or waits for the run that has started before. */
export interface OneAtATime {
  (): Promise<void>;
  /** Waits for the run that has started before, if there is one, and then starts the work. */
  again(): Promise<void>;
}

/**
 * Lets `work` run once at a time. A worker ends all work of a request once it is answered, and a promise of that work never settles. So
 * no call waits more than `longest` ms, and a run that is older counts no more.
 */
export const oneAtATime = (work: () => Promise<void>, longest: number): OneAtATime => {
  let latest: { readonly ended: Promise<void>; readonly until: number } | undefined;
  const wait = async () => {
    if (!latest) return;
    try {
      await inTime(latest.ended, longest, 'an earlier request');
    } catch (error) {
      if (!(error instanceof Late)) throw error;
    }
  };
  const start = async () => {
    if (!latest || performance.now() > latest.until) {
      const ended = work().finally(() => {
        if (latest === run) latest = undefined;
      });
      const run = { ended, until: performance.now() + longest };
      latest = run;
    }
    await wait();
  };
  return Object.assign(start, {
    async again() {
      await wait();
      await start();
    },
  });
};
