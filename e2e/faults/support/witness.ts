import type { Tab } from '../engines/engine.ts';
import type { Told } from './page.ts';

declare global {
  interface Window {
    /** How many requests the page has made, and how many of them failed. */
    attempts: { made: number; failed: number };
  }
}

/** Counts the page's requests from now on, because a server that is down sees none of them. */
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

/** Ends the back-off, as a network that is back does. Resolves once each event is confirmed, dropped, or waiting to retry. */
export const stir = (tab: Tab): Promise<void> =>
  tab.evaluate(async () => {
    dispatchEvent(new Event('online'));
    await window.clew('flush');
  });

/** Tracks the reserved numbers in one task, each with `length` more characters in its payload. */
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
