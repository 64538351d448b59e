import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rollup } from 'rollup';
import { loadConfigFile } from 'rollup/loadConfigFile';

const root = join(import.meta.dirname, '../..');

/** The hashes of the stub and of clew.js, as `npm run build` prints them. Runs its last step again, outside of `dist`. */
export const printedHashes = async (): Promise<{ stub: string; integrity: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'clew-hashes-'));
  const { options } = await loadConfigFile(join(root, 'rollup.config.mjs'), {});
  const said: string[] = [];
  const built = await rollup({ ...options.at(-1), onLog: (_level, { message }) => said.push(message) });
  await built.write({ file: join(folder, 'stub.js'), format: 'iife' });
  await rm(folder, { recursive: true });
  const find = (pattern: RegExp) => pattern.exec(said.join('\n'))?.[1] ?? 'not printed';
  return { stub: find(/'(sha256-.+)'/), integrity: find(/integrity="(.+)"/) };
};
