import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Engine, openEngine, type Privacy, type Tab } from '../engines/engine.ts';

/** How long (ms) a tab may take to answer: one in an endless loop never does. */
const PATIENCE = 5000;

const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
  Promise.race([work.catch(() => otherwise), pause(PATIENCE, otherwise, { ref: false })]);

/** The browsers of one stage, and the tabs opened in them. */
export const createTroupe = async (shared: Engine) => {
  const profile = await mkdtemp(join(tmpdir(), 'clew-fault-'));
  const own: Engine[] = [];
  const tabs = new Set<Tab>();

  /** Remembers the tabs, because each reports its problems at the end. */
  const watched = (engine: Engine): Engine => ({
    ...engine,
    async newTab() {
      const tab = await engine.newTab();
      tabs.add(tab);
      return {
        ...tab,
        close() {
          tabs.delete(tab);
          return tab.close();
        },
      };
    },
  });

  const openOwn = async (privacy?: Privacy): Promise<Engine> => {
    const engine = watched(await openEngine(shared.name, profile, privacy));
    own.push(engine);
    return engine;
  };

  return {
    shared: watched(shared),
    openOwn,
    /** The browser that has the unsent events: the stage's own one, restarted if need be, or else the shared one. */
    async last(): Promise<Engine> {
      if (!own[0]) return watched(shared);
      return own.findLast((engine) => engine.isAlive()) ?? openOwn();
    },
    async problems(): Promise<string[]> {
      const ask = (tab: Tab) =>
        inTime(
          tab.evaluate(() => window.problems ?? []),
          [],
        );
      return (await Promise.all([...tabs].map(ask))).flat();
    },
    async leave(): Promise<void> {
      for (const engine of own) if (engine.isAlive()) await engine.kill();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
      if (!shared.isAlive()) return;
      await shared.setOffline?.(false);
      // A browser with a tab that cannot be closed is of no use to the next test.
      if (
        !(await inTime(
          shared.closeTabs().then(() => true),
          false,
        ))
      )
        await shared.kill();
    },
  };
};
