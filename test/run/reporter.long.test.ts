import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readReport } from './report.ts';

it('reports hooks that throw, unhandled rejections and tests that pass after a retry, beside tests that fail', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clew-report-'));
  const report = join(folder, 'unit.json');
  const root = join(import.meta.dirname, '../..');
  spawnSync(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/run/outside/vitest.config.ts'],
    {
      cwd: root,
      env: { ...process.env, REPORT: report },
    },
  );
  const failed = readReport(report, root)?.filter(({ outcome }) => outcome === 'failed');
  rmSync(folder, { recursive: true });
  expect(failed?.map(({ name, isPromise }) => [name, isPromise])).toEqual([
    ['test/run/outside/hook.ts › fails', false],
    ['test/run/outside/retry.ts › passes only after a retry', false],
    ['test/run/outside/hook.ts', true],
    ['outside of every test: nobody awaits it', true],
  ]);
});
