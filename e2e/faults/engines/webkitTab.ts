import { setTimeout as pause } from 'node:timers/promises';
import type { Tab } from './engine.ts';
import type { Send } from './webdriver.ts';

type Outcome = { value?: unknown; error?: string; isPending?: boolean };

/**
 * Starts a function in the page. Answers with the outcome, or after 100 ms that it is pending, because a longer command would
 * block all other tabs. The page keeps a late outcome under its number.
 */
const start = (fn: unknown) => `
  const [arg, id, done] = arguments;
  const outcomes = (window.__outcomes ??= {});
  Promise.resolve().then(() => (${fn})(arg))
    .then((value) => ({ value }), (error) => ({ error: String(error) }))
    .then((outcome) => done((outcomes[id] = outcome)));
  setTimeout(() => done({ isPending: true }), 100);`;
const LOOK = `
  const outcomes = window.__outcomes;
  return outcomes ? outcomes[arguments[0]] ?? { isPending: true } : { error: 'the page has gone' };`;

let count = 0;

/** A tab of a WebDriver session. `on` sends a command to this tab's window. */
export const createTab = (on: Send, close: () => Promise<void>): Tab => {
  const run = (how: 'sync' | 'async', script: string, ...args: unknown[]) =>
    on<Outcome>('POST', `/execute/${how}`, { script, args });

  const tab: Tab = {
    goto: (url) => on('POST', '/url', { url }),
    async evaluate<R, A>(fn: (arg: A) => R | Promise<R>, arg?: A) {
      const id = ++count;
      let outcome = await run('async', start(fn), arg ?? null, id);
      while (outcome.isPending) {
        await pause(50);
        outcome = await run('sync', LOOK, id);
      }
      if (outcome.error !== undefined) throw new Error(outcome.error);
      return outcome.value as R;
    },
    async click(selector) {
      const element = await on<Record<string, string>>('POST', '/element', { using: 'css selector', value: selector });
      await on('POST', `/element/${Object.values(element)[0]}/click`);
    },
    back: async () => void (await run('sync', 'history.back()')),
    close,
    async activate() {
      await tab.evaluate(async () => {
        const { title } = document;
        document.title = 'bring me to the front';
        if (document.hidden) {
          await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
        }
        document.title = title;
      });
    },
  };
  return tab;
};
