import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { linksOf, pages, root } from './markdown.ts';

const remark = join(root, 'node_modules/.bin/remark');

/** The report of remark on the links of these pages to files and headings. Empty if every link has a target. */
const faultsOf = async (files: string[]): Promise<string> => {
  const plugin = ['--use', 'remark-validate-links=repository:false'];
  const args = [remark, ...files, '--no-config', ...plugin, '--frail', '--quiet', '--no-stdout', '--no-color'];
  return promisify(execFile)(process.execPath, args, { cwd: root }).then(
    () => '',
    ({ stderr, message }) => stderr || message,
  );
};

it('every link to a file or a heading has a target', async () => {
  expect(await faultsOf(pages)).toBe('');
});

it('a link without a target is reported', async () => {
  await mkdir(join(root, 'test-results'), { recursive: true });
  const folder = await mkdtemp(join(root, 'test-results/links-'));
  try {
    const page = join(folder, 'broken.md');
    await writeFile(page, '[a](../../docs/relay.md#no-such-heading) [b](../no-such-page.md) [c](#nor-here)\n');
    const told = await faultsOf([relative(root, page)]);
    for (const link of ['no-such-heading', 'no-such-page.md', 'nor-here']) expect(told).toContain(link);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('every link to another site is a valid https address', () => {
  const isGood = (url: string) => !/^[a-z]+:/i.test(url) || (URL.canParse(url) && new URL(url).protocol === 'https:');
  const bad = pages.flatMap((page) =>
    linksOf(page)
      .filter(([url]) => !isGood(url))
      .map(([url, line]) => `${page}:${line}: ${url}`),
  );
  expect(bad).toEqual([]);
});
