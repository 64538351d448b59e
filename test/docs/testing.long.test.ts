import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { blocksOf, read, root } from './markdown.ts';

/** `clew` and its entries where the package's exports have them, as in a reader's project. */
const config = `
  import { defineConfig } from 'vitest/config';
  const entries = ${JSON.stringify(JSON.parse(read('package.json')).exports)};
  const alias = Object.entries(entries)
    .filter(([, target]) => target.default)
    .map(([name, target]) => ({
      find: new RegExp('^' + name.replace('.', 'clew') + '$'),
      replacement: target.default.replace('.', ${JSON.stringify(root)}),
    }));
  export default defineConfig({ resolve: { alias } });`;

it('the tests in docs/testing.md pass', { timeout: 120_000 }, async () => {
  mkdirSync(join(root, 'test-results'), { recursive: true });
  const folder = mkdtempSync(join(root, 'test-results/testing-'));
  try {
    writeFileSync(join(folder, 'vitest.config.mjs'), config);
    const named = blocksOf('docs/testing.md').map(({ text }) => [/^\/\/ (\S+)\n/.exec(text)?.[1], text] as const);
    for (const [name, text] of named) if (name) writeFileSync(join(folder, name), text);
    const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter=json'];
    const { VITEST: _, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch((error) => error);
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(stdout.slice(stdout.indexOf('{')));
    const shown = named.flatMap(([, text]) => text.match(/^it\(/gm) ?? []);
    expect([numPassedTests, numFailedTests], JSON.stringify(testResults)).toEqual([shown.length, 0]);
    expect(shown.length).toBeGreaterThan(3);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
