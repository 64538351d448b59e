import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Application, LogLevel } from 'typedoc';
import { expect, it } from 'vitest';
import { read, root } from './markdown.ts';

const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, unknown> };

it('the API reference has every export with a docstring, and no broken link', async () => {
  const app = await Application.bootstrap({ options: join(root, 'typedoc.json'), emit: 'none' });
  const told: string[] = [];
  app.logger.log = (message, level) => void (level >= LogLevel.Warn && told.push(message));
  const project = await app.convert();
  if (project) app.validate(project);
  expect(told).toEqual([]);
  const entries = Object.keys(exports)
    .map((entry) => entry.replace(/^\.\/?/, '') || 'index')
    .filter((name) => existsSync(join(root, `src/${name}.ts`)));
  expect(project?.children?.map(({ name }) => name).toSorted()).toEqual(entries.toSorted());
}, 120_000);
