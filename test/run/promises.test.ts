import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROMISE } from './report.ts';

const CORE = ['api', 'courier', 'outbox', 'page', 'recorder', 'tracker', 'visitor'];

it.each(CORE)('a test of test/%s that fails once fails the run, whatever its replays show', (name) => {
  const folder = join(import.meta.dirname, '..', name);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  expect(files).not.toEqual([]);
  const isTagged = (file: string) => readFileSync(join(folder, file), 'utf8').startsWith(`// @module-tag ${PROMISE}\n`);
  expect(files.filter((file) => !isTagged(file))).toEqual([]);
});
