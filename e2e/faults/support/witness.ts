import type { Tab } from '../engines/engine.ts';
import type { Told } from './page.ts';

declare global {
  interface Window {
    /** Requests that the page has made, and those of them that came to nothing. */
    attempts: { made: number; failed: number };
  }
}

/** Counts from now on, in the page, what no server that is down can see. */
export const countAttempts = (tab: Tab): Promise<void> =>
  tab.evaluate(() => {
    const { fetch } = window;
    window.attempts = { made: 0, failed: 0 };
    window.fetch = (...request) => {
      window.attempts.made++;
      const answer = fetch(...request);
      answer.catch(() => window.attempts.failed++);
      return answer;
    };
  });

export const attemptsOf = (tab: Tab): Promise<Window['attempts']> => tab.evaluate(() => window.attempts);

export const told = (tab: Tab): Promise<Told> => tab.evaluate(() => window.told);

export const deliveredTo = async (tab: Tab): Promise<number> => (await told(tab)).delivered.length;

/** Ends the wait after a failure, as a network that is back does, and resolves when all is answered for or waits again. */
export const stir = (tab: Tab): Promise<void> =>
  tab.evaluate(async () => {
    dispatchEvent(new Event('online'));
    await window.clew('flush');
  });

/** Tracks numbers that `next` has reserved, each with so many characters more in its payload, in one task. */
export const trackPadded = (
  tab: Tab,
  numbers: { run: string; from: number; count: number },
  length: number,
): Promise<void> =>
  tab.evaluate(
    ({ run, from, count, pad }) => {
      for (let n = from; n < from + count; n++) window.clew('track', 'ledger', { run, n, pad });
    },
    { ...numbers, pad: 'x'.repeat(length) },
  );
