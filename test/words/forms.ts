import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { root } from '../docs/markdown.ts';
import type { Passage } from './passage.ts';
import { proseOf } from './prose.ts';

const FOLDER = '.github/ISSUE_TEMPLATE';

/** The forms for issues on GitHub. */
export const formFiles: string[] = readdirSync(join(root, FOLDER))
  .filter((name) => name.endsWith('.yml'))
  .map((name) => `${FOLDER}/${name}`)
  .toSorted();

/** Keys whose texts GitHub shows. `value` is the text of a `markdown` field. */
const SHOWN = new Set(['about', 'description', 'label', 'name', 'placeholder', 'title', 'value']);

/** The prose of a form in YAML. All of a text is on the line of its key, since YAML may fold it. */
export const proseOfForm = (yaml: string): Passage[] => {
  const lineCounter = new LineCounter();
  const passages: Passage[] = [];
  visit(parseDocument(yaml, { lineCounter }), {
    Pair(_, { key, value }) {
      if (!isScalar<string>(key) || !SHOWN.has(key.value) || !isScalar(value) || typeof value.value !== 'string')
        return;
      const { line } = lineCounter.linePos(key.range?.[0] ?? 0);
      for (const passage of proseOf(value.value)) passages.push({ ...passage, lineAt: () => line });
    },
  });
  return passages;
};
