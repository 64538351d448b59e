import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTSIDE, root } from '../.vitepress/outside.ts';

/** A text without a heading begins with its title. */
const markdownOf = (text: string): string => (text.startsWith('#') ? text : `# ${text}`);

/** The pages of this folder: files that GitHub expects elsewhere. */
export default {
  watch: Object.values(OUTSIDE).map((file) => join(root, file)),
  paths: () =>
    Object.entries(OUTSIDE).map(([page, file]) => ({
      params: { page: page.replace(/^project\/|\.md$/g, '') },
      content: markdownOf(readFileSync(join(root, file), 'utf8')),
    })),
};
