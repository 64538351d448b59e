// Part of npm run docs:check: the links, the anchors and the files of the site that npm run docs:build has made.
import { join } from 'node:path';
import { root } from './markdown.ts';
import { siteFaults } from './site.ts';

const faults = siteFaults(join(root, 'docs/.vitepress/dist'));
for (const fault of faults) console.error(fault);
if (faults.length) {
  console.error(`${faults.length} faults in the built documentation`);
  process.exitCode = 1;
}
