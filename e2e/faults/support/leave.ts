import type { Tab } from '../engines/engine.ts';
import type { Stage } from './stage.ts';

const trackAndGo = ({ run, from, count, to }: { run: string; from: number; count: number; to: string }) => {
  for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n });
  location.href = to;
};

/** Tracks the next five numbers and leaves for the path `to` in the same task. */
export const trackAndLeave = async (stage: Stage, tab: Tab, to = '/page/2'): Promise<void> => {
  // The page may be gone before `evaluate` returns.
  await tab.evaluate(trackAndGo, { ...stage.next(5), to }).catch(() => {});
  await stage.reached(tab, new URL(to, stage.site.origin).pathname);
};
