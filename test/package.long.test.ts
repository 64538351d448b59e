import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clew-types-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the packed package has types that resolve for ESM, for each entry that has types', async () => {
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const entries = Object.keys(exports).filter((entry) => exports[entry].types);
  expect(entries.length).toBeGreaterThan(5);
  // Without scripts, because `prepack` would rebuild `dist` while other tests use it.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename }] = JSON.parse((await run('npm', pack, { cwd: root })).stdout);
  // The two script-tag files have no types by design.
  const args = ['--profile', 'esm-only', '--no-definitely-typed', '--exclude-entrypoints', 'clew.js', 'stub.js'];
  const attw = [join(root, 'node_modules/.bin/attw'), join(folder, filename), '--format', 'ascii', '--no-emoji'];
  const verdict = await run(process.execPath, [...attw, ...args], { cwd: root }).then(
    ({ stdout }) => `clean\n${stdout}`,
    ({ stdout, stderr }) => `not clean\n${stdout}${stderr}`,
  );
  expect(verdict).toMatch(/^clean/);
  for (const entry of entries) expect(verdict).toContain(`"clew${entry.slice(1)}"`);
});
