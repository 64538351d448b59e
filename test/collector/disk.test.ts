import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockFolder } from '../../demo/collector/folder.ts';

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'clew-')), 'not', 'there', 'yet');
});
afterEach(() => rm(join(dir, '../../..'), { recursive: true, force: true }));

describe('the folder of a collector', () => {
  it('opens the folder of a process that was killed', async () => {
    const { path, release } = await lockFolder(dir);
    await release();
    for (const pid of [process.pid, 999_999_999]) {
      // Systems reuse process ids, and a container's processes get the same ids each time.
      await writeFile(join(dir, 'lock'), String(pid));
      const again = await lockFolder(dir);
      expect(again.path).toBe(path);
      await again.release();
    }
  });

  it('refuses a folder that another process is using', async () => {
    const { release } = await lockFolder(dir);
    await release();
    await writeFile(join(dir, 'lock'), String(process.ppid));
    await expect(lockFolder(dir)).rejects.toThrow(`is in use by process ${process.ppid}`);
  });
});
