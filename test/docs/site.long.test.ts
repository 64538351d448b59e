import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './markdown.ts';
import { siteFaults } from './site.ts';

const folder = join(root, 'docs/.vitepress/dist');

it('the built site has no dead link or anchor, and needs no other site', () => {
  expect(existsSync(join(folder, 'index.html')), 'built by `npm run docs:build`').toBe(true);
  expect(siteFaults(folder)).toEqual([]);
});
