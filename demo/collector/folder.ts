import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The locks of this process. After a restart in a container, an old lock may have the number of the new process. */
const held = new Set<string>();

export interface Folder {
  /** Where the database's own files go. */
  path: string;
  release(): Promise<void>;
}

/**
 * Claims `dir` for this process, creating it if need be. The embedded Postgres does not notice a second one working on the
 * same files, and the two would ruin them.
 *
 * @throws {Error} when a running process holds the folder
 */
export async function lockFolder(dir: string): Promise<Folder> {
  const lock = join(resolve(dir), 'lock');
  await mkdir(dir, { recursive: true });
  const holder = await claim(lock);
  if (holder !== undefined) {
    if (holder === process.pid ? held.has(lock) : isRunning(holder)) {
      throw new Error(`${dir} is in use by process ${holder}; if that is not a collector, delete ${lock}`);
    }
    // The process that held the lock was killed, so its lock is void.
    await rm(lock, { force: true });
    if ((await claim(lock)) !== undefined) throw new Error(`${dir} has just been locked by another process`);
  }
  held.add(lock);
  return {
    path: join(resolve(dir), 'postgres'),
    async release() {
      await rm(lock, { force: true });
      held.delete(lock);
    },
  };
}

/** Creates the lock, or returns the number of the process that holds it. */
async function claim(lock: string): Promise<number | undefined> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return Number(await readFile(lock, 'utf8'));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs, under another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
